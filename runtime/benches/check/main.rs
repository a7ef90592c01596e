//! What checking a whole crate costs, beside what parsing the same text costs.
//!
//! One JSON line for each case on standard output. `runtime/benches/README.md` explains and keeps measured figures. Absent
//! on purpose: thresholds. Machines differ; read the ratios.

use std::error::Error;
use std::fmt::Write;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// Of one generated module, whose functions have twelve lines each.
const MODULE_FUNCTIONS: usize = 20;
const MODULE_LINES: usize = 12 * MODULE_FUNCTIONS + 10;
/// Of so many modules, one has a workflow.
const MODULES_PER_WORKFLOW: usize = 20;

/// How much of the crate its workflows come to.
#[derive(Clone, Copy)]
enum Reach {
    /// A twentieth: a service in which workflows are one part.
    Part,
    /// All of it: the most that can be asked.
    All,
}

fn main() -> ExitCode {
    // `cargo bench` adds `--bench`. Whoever runs the target otherwise wants to know that it works.
    let is_quick = !std::env::args().any(|word| word == "--bench");
    let (lines, rounds) = if is_quick { (2_500, 1) } else { (50_000, 5) };
    for (name, reach) in [("part", Reach::Part), ("all", Reach::All)] {
        if let Err(fault) = measure(name, reach, lines, rounds) {
            eprintln!("the benchmark stopped: {fault}");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

fn measure(name: &str, reach: Reach, lines: usize, rounds: usize) -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let texts = generate(folder.path(), reach, lines)?;
    let mut measured = Vec::new();
    for _ in 0..rounds {
        let begun = Instant::now();
        for text in &texts {
            std::hint::black_box(syn::parse_file(text)?);
        }
        let parsing = begun.elapsed();
        let begun = Instant::now();
        let report = steadfast::check::crate_at(folder.path());
        measured.push((begun.elapsed(), parsing, report));
    }
    measured.sort_by_key(|(checking, _, _)| *checking);
    let Some((checking, parsing, report)) = measured.get(rounds / 2) else {
        return Ok(());
    };
    if !report.unread.is_empty() || report.findings.len() != report.workflows {
        return Err(report.to_string().into());
    }
    let seconds = Duration::as_secs_f64;
    println!(
        "{{\"case\":\"{name}\",\"lines\":{},\"functions\":{},\"seconds\":{:.3},\"parsing\":{:.3},\"ratio\":{:.2}}}",
        report.lines,
        report.functions,
        seconds(checking),
        seconds(parsing),
        seconds(checking) / seconds(parsing),
    );
    Ok(())
}

/// Writes a crate of about so many lines, one finding for each workflow, and gives back the text of its files.
fn generate(folder: &Path, reach: Reach, lines: usize) -> Result<Vec<String>, Box<dyn Error>> {
    std::fs::create_dir_all(folder.join("src"))?;
    std::fs::write(folder.join("Cargo.toml"), "[package]\nname = \"generated\"\n")?;
    let modules = lines / MODULE_LINES;
    let mut library = String::new();
    let mut texts = Vec::new();
    for number in 0..modules {
        writeln!(library, "pub mod part_{number};")?;
        let text = module(number, modules, reach)?;
        std::fs::write(folder.join(format!("src/part_{number}.rs")), &text)?;
        texts.push(text);
    }
    std::fs::write(folder.join("src/lib.rs"), &library)?;
    texts.push(library);
    Ok(texts)
}

fn module(number: usize, modules: usize, reach: Reach) -> Result<String, std::fmt::Error> {
    let mut text = String::from("use std::collections::BTreeMap;\nuse crate::part_0::Cart_0 as First;\n");
    if number.is_multiple_of(MODULES_PER_WORKFLOW) {
        writeln!(
            text,
            "#[steadfast::workflow]\npub async fn work_{number}(cart: Cart_{number}) -> Result<u64, String> {{"
        )?;
        writeln!(
            text,
            "    let stamp = stamp_{number}();\n    let first = total_{number}_0(&cart, stamp);"
        )?;
        writeln!(text, "    step!(\"save\", {{ Ok(first) }}).await\n}}")?;
        writeln!(text, "fn stamp_{number}() -> u64 {{ std::time::SystemTime::now(); 1 }}")?;
    }
    writeln!(
        text,
        "#[derive(Debug)]\npub struct Cart_{number} {{ pub lines: BTreeMap<String, u64>, pub first: Option<Box<First>> }}"
    )?;
    for function in 0..MODULE_FUNCTIONS {
        // A tree within the module; and, to reach all, a tree of modules.
        let mut next = String::new();
        for other in [2 * function + 1, 2 * function + 2] {
            if other < MODULE_FUNCTIONS {
                write!(next, "total_{number}_{other}(cart, total) + ")?;
            }
        }
        for other in [2 * number + 1, 2 * number + 2] {
            if function == 0 && other < modules && matches!(reach, Reach::All) {
                write!(next, "crate::part_{other}::total_{other}_0(todo!(), total) + ")?;
            }
        }
        write!(
            text,
            r#"
/// Adds up what is in the cart, with the discount of its size.
pub fn total_{number}_{function}(cart: &Cart_{number}, rate: u64) -> u64 {{
    let mut total = cart.lines.values().map(|price| price * rate).sum::<u64>();
    for (name, price) in cart.lines.iter().filter(|(name, _)| !name.is_empty()) {{
        let discount = if *price > 100 {{ price / 10 }} else {{ u64::from(rate > 3) }};
        total = total.saturating_sub(discount).max(name.len() as u64);
        let text = format!("{{name}} at {{}} makes {{total}}", price.saturating_add(1));
        total += text.len() as u64 % 7;
    }}
    {next}total
}}
"#
        )?;
    }
    Ok(text)
}
