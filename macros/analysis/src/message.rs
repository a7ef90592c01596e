//! What the author reads. Each message is the mistake, the reason, and the remedy, to be reviewed as prose.
//! Absent on purpose: the lints' wording, which stands beside what each lint matches (`lint/table.rs`).

/// `{0}`, `{1}` … in any part are filled in where it is reported.
pub struct Message {
    pub text: &'static str,
    pub reason: &'static str,
    pub remedy: &'static str,
}

impl Message {
    pub fn render(&self, values: &[&str]) -> String {
        let mut rendered = format!("{}\n  why: {}\n  fix: {}", self.text, self.reason, self.remedy);
        for (index, value) in values.iter().enumerate() {
            rendered = rendered.replace(&format!("{{{index}}}"), value);
        }
        rendered
    }
}

// Signatures.

pub const NOT_A_FUNCTION: Message = Message {
    text: "`#[{0}]` belongs on an `async fn` with a body",
    reason: "it turns the function's code into something that can be replayed",
    remedy: "put the code into `async fn name(…) -> … { … }`",
};

pub const NOT_ASYNC: Message = Message {
    text: "a `#[{0}]` function must be `async`",
    reason: "it waits at its checkpoints, and waiting needs `.await`",
    remedy: "write `async fn`",
};

pub const WORKFLOW_SELF: Message = Message {
    text: "a workflow has no `self`",
    reason: "it is started by name with a stored input, maybe in another process, where this object does not exist",
    remedy: "make it a free function and take what it needs as a parameter: `&T` for state, an owned type for input",
};

pub const WORKFLOW_GENERIC: Message = Message {
    text: "a workflow cannot be generic",
    reason: "its name stands for one piece of code and one stored input type",
    remedy: "name the types here, and call a generic `#[durable]` function for the common part",
};

pub const WORKFLOW_IMPL_TRAIT: Message = Message {
    text: "`impl Trait` cannot stand in the signature of a workflow",
    reason: "inputs and outputs are stored and state is found by its type, so every type needs a name",
    remedy: "name the type",
};

pub const CONST_FN: Message = Message {
    text: "a `#[{0}]` function cannot be `const`",
    reason: "it runs over days and restarts, not at compile time",
    remedy: "remove `const`",
};

pub const UNSAFE_FN: Message = Message {
    text: "a `#[{0}]` function cannot be `unsafe`",
    reason: "the runtime calls it again on replay, and cannot promise what its callers must promise",
    remedy: "remove `unsafe`, and put an `unsafe` block into the step that needs it",
};

pub const EXTERN_FN: Message = Message {
    text: "a `#[{0}]` function cannot be `extern`",
    reason: "only the runtime calls it, and only as Rust",
    remedy: "remove `extern`",
};

pub const VARIADIC: Message = Message {
    text: "a `#[{0}]` function cannot take a variable number of arguments",
    reason: "every argument needs a type",
    remedy: "take a `Vec`",
};

pub const NO_RETURN_TYPE: Message = Message {
    text: "a workflow returns a `Result`",
    reason: "its outcome is stored either as a value or as a failure",
    remedy: "add `-> Result<T, E>`, where `E` is anything that converts into a boxed error; `Result<(), BoxError>` will do",
};

pub const NO_RESULT: Message = Message {
    text: "a workflow returns a `Result`, and not `{0}`",
    reason: "its outcome is stored either as a value or as a failure",
    remedy: "write `-> Result<{0}, E>`, where `E` is anything that converts into a boxed error, such as `BoxError`",
};

pub const BORROWED_OUTPUT: Message = Message {
    text: "a workflow cannot return a borrowed value",
    reason: "its result is stored, and read back when what it borrowed from is long gone",
    remedy: "return an owned type",
};

pub const BORROWED_INPUT: Message = Message {
    text: "a workflow's input cannot borrow",
    reason: "it is stored, and read back when what it borrowed from is long gone",
    remedy: "take an owned type such as `String` or `Vec<T>`; a plain `&T` parameter is state",
};

pub const MUTABLE_STATE: Message = Message {
    text: "state cannot be taken by `&mut`",
    reason: "all running instances share it",
    remedy: "take `&{0}`, and let the type itself guard what changes, from within steps",
};

pub const UNNAMED_STATE: Message = Message {
    text: "state must be a plain `&T` with a named, sized type",
    reason: "the runtime finds the value by this type",
    remedy: "wrap it in a struct of your own, for example `struct Shop(Box<dyn Payments>)`, and take `&Shop`",
};

pub const UNNAMED_TEXT_OR_LIST: Message = Message {
    text: "a workflow cannot take `&{0}`",
    reason: "a `&T` parameter is state, which the runtime finds by its named, sized type",
    remedy: "if it is input, take `{1}`, which is stored; if it is state, wrap it in a struct of your own and take `&` of that",
};

pub const BORROWING_STATE: Message = Message {
    text: "the type of a state cannot borrow",
    reason: "the runtime keeps the value as long as it lives",
    remedy: "use a type without lifetime parameters, or `'static`",
};

pub const CONDITIONAL_INPUT: Message = Message {
    text: "an input parameter cannot depend on `#[cfg]`",
    reason: "a build with the other setting could not read the inputs that this one stores",
    remedy: "make it an `Option`, or put `#[cfg]` on two versions of the whole workflow",
};

pub const TOO_MANY_INPUTS: Message = Message {
    text: "a workflow takes at most 12 input parameters",
    reason: "they are stored as one tuple",
    remedy: "put them into a struct",
};

// Arguments of the attributes.

pub const UNKNOWN_ARGUMENT: Message = Message {
    text: "`#[{0}]` does not know `{1}`",
    reason: "it takes only {2}",
    remedy: "remove it, or correct the spelling",
};

pub const REPEATED_ARGUMENT: Message = Message {
    text: "`{0}` is given twice",
    reason: "only one can hold",
    remedy: "remove one",
};

pub const ARGUMENT_VALUE: Message = Message {
    text: "`{0}` is written `{1}`",
    reason: "it is part of what is stored, so it must be plain in the source",
    remedy: "write a literal",
};

pub const VERSION_ZERO: Message = Message {
    text: "versions count from 1",
    reason: "a workflow that says nothing is version 1",
    remedy: "write `version = 1`, or leave it out",
};

// Names.

pub const NAME_NOT_LITERAL: Message = Message {
    text: "the name of a {0} must be a string literal",
    reason: "replay finds what is recorded by this name, so it may not depend on anything at run time",
    remedy: "{1}",
};

pub const NAME_EMPTY: Message = Message {
    text: "the name of a {0} cannot be empty",
    reason: "replay finds what is recorded by this name, and people read it in the history",
    remedy: "say what happens here, for example `\"charge the card\"`",
};

pub const NAME_TOO_LONG: Message = Message {
    text: "the name of a {0} is longer than 256 bytes",
    reason: "it is stored with every event and shown in every list",
    remedy: "shorten it; details belong into the result or into `.key(…)`",
};

pub const NAME_CONTROL: Message = Message {
    text: "the name of a {0} contains a control character",
    reason: "names are shown in lists, logs and histories, one to a line",
    remedy: "use printable characters",
};

pub const NAME_REPEATED: Message = Message {
    text: "there is already a {0} named {1} in this function",
    reason: "a result is found by its name: when one of the two is moved or removed, the other would be handed its result",
    remedy: "give each its own name; the same {0} in a loop is written once{2}",
};

// Checkpoints.

pub const OUTSIDE: Message = Message {
    text: "`{0}!` works only in workflow code",
    reason: "it needs the journal, which only code directly in a `#[workflow]` or `#[durable]` function has, and no step body",
    remedy: "{1}",
};

pub const USAGE: Message = Message {
    text: "`{0}!` is written `{1}`",
    reason: "{2}",
    remedy: "{3}",
};

pub const STEP_CLOSURE: Message = Message {
    text: "the closure of a step takes one parameter",
    reason: "it is called with the attempt: its number, its idempotency key, its cancellation",
    remedy: "write `step!(\"name\", |attempt| …)`, or leave the closure out",
};

pub const BARE_AWAIT_IN_BODY: Message = Message {
    text: "this `.await` is not inside an async block",
    reason: "`step!(\"name\", future)` takes the future itself and awaits it",
    remedy: "put braces around the body: `step!(\"name\", { … })`; then it may await, and ends with the result",
};

pub const BODY_ASSIGNS: Message = Message {
    text: "a step body cannot assign to `{0}`, a variable of the workflow",
    reason: "on replay the body does not run again, and the variable would keep its old value",
    remedy: "let the body end in the new value, and assign what the step gives: `{0} = step!(…).await?`",
};

pub const BODY_CHANGES: Message = Message {
    text: "a step body cannot change `{0}`, a variable of the workflow",
    reason: "on replay the body does not run again, and the variable would keep its old value",
    remedy: "let the body end in what is new, and change `{0}` after the step, with what the step gives; a value that only the body needs is made inside it",
};

pub const RACE_OF_ONE: Message = Message {
    text: "`race!` takes two to eight branches",
    reason: "the answer is `Race2` to `Race8`, one variant for each branch",
    remedy: "await a single future directly; split more than eight into races of races",
};

pub const JOIN_TOO_WIDE: Message = Message {
    text: "`{0}!` takes at most twelve branches",
    reason: "the answer is a tuple",
    remedy: "use `join_all`, `try_join_all` or `map_concurrent` for many of one kind",
};

pub const ASYNC_CLOSURE: Message = Message {
    text: "an async closure is not durable",
    reason: "its future is an ordinary one, and its checkpoints would have no scope of their own",
    remedy: "write `|…| async move { … }`, which is",
};

pub const HIDDEN_CHECKPOINT: Message = Message {
    text: "workflow code cannot wait inside `{0}!`",
    reason: "the contents of a macro that Steadfast does not know stay as they are, so this would not be replayed",
    remedy: "wait first, `let value = ….await;`, and use `value` in the macro",
};

pub const LAZY_CHECKPOINT: Message = Message {
    text: "workflow code cannot wait, or take a recorded value, inside `{0}!`",
    reason: "its arguments are evaluated only where it is switched on, so the next run or build would take another path",
    remedy: "do it first, `let value = …;`, and use `value` in the macro",
};

// Allowances.

pub const ALLOW_WITHOUT_REASON: Message = Message {
    text: "an allowance needs a reason",
    reason: "whoever reads this later must be able to see why replay is safe here",
    remedy: "write `#[allow_nondeterminism({0}, reason = \"…\")]`",
};

pub const ALLOW_UNKNOWN_RULE: Message = Message {
    text: "there is no rule `{0}`",
    reason: "the rules are {1}",
    remedy: "name the rule that fires here",
};

pub const ALLOW_MALFORMED: Message = Message {
    text: "`#[allow_nondeterminism]` is not written like this",
    reason: "it silences one rule on one statement or one function",
    remedy: "write `#[allow_nondeterminism(rule, reason = \"…\")]`",
};

pub const ALLOW_UNUSED: Message = Message {
    text: "nothing here breaks the rule `{0}`",
    reason: "an allowance that is not needed hides the next mistake",
    remedy: "remove it",
};

pub const ALLOW_MISPLACED: Message = Message {
    text: "`#[allow_nondeterminism]` belongs on a statement in workflow code",
    reason: "it silences one rule in the statement below it, and nothing anywhere else",
    remedy: "move it to the statement that breaks the rule; in a step's body everything is allowed, and it is not needed",
};

// Plain helpers.

pub const DETERMINISTIC_ASYNC: Message = Message {
    text: "a `#[deterministic]` function cannot be `async`",
    reason: "workflow code can wait only for what is durable, and this would not be",
    remedy: "mark it with `#[durable]`, which checks the same rules; or remove `async` if it waits for nothing",
};

pub const DETERMINISTIC_CHECKPOINT: Message = Message {
    text: "`{0}!` cannot stand in a `#[deterministic]` function",
    reason: "a checkpoint needs the journal, which a plain function does not have",
    remedy: "{1}",
};

pub const DETERMINISTIC_ARGUMENTS: Message = Message {
    text: "`#[deterministic]` takes no arguments",
    reason: "there is nothing to choose",
    remedy: "remove what is between the parentheses",
};

pub const DETERMINISTIC_NO_FUNCTION: Message = Message {
    text: "`#[deterministic]` belongs on a function with a body",
    reason: "it checks the function's code",
    remedy: "put it on each `fn name(…) { … }` that workflows call",
};

pub const ALLOW_NOT_A_FUNCTION: Message = Message {
    text: "`#[allow_nondeterminism]` belongs on a function with a body",
    reason: "it silences one rule in the function's own code, for `steadfast check`",
    remedy: "put it on the function in which the rule fires; in a `#[workflow]` or `#[durable]` function, on the statement",
};
