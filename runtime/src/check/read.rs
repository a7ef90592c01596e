//! Reads all files of a crate, on as many threads as there are cores, and asks the same threads about functions: a syntax
//! tree stays with the thread that parsed it. Absent on purpose: which functions matter.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use syn::ItemFn;

use super::follow::{self, Source};
use super::gather::{Place, gather};
use super::index::Index;
use super::judge::{Judged, judge};
use super::manifest::{self, Layout};
use super::outline::{Child, Definition, Id, Outline};
use super::{Report, Unread};

/// Deeply nested code is parsed recursively.
const STACK_BYTES: usize = 32 << 20;

/// A file that somebody has to read.
struct Task {
    file: u32,
    path: PathBuf,
    /// See `Place::of`.
    owns_folder: bool,
    /// The name of its crate, if it is the first file of a library.
    library: Option<String>,
    /// The module that declares it, and the name it has there.
    declared: Option<(Id, String)>,
    /// The files that lead to it.
    above: Vec<PathBuf>,
}

/// A file that was read.
struct Read {
    task: Task,
    outline: Outline,
    /// The thread that has its functions.
    reader: usize,
}

#[derive(Default)]
struct Queue {
    waiting: Vec<Task>,
    busy: usize,
    files: u32,
    read: Vec<Read>,
    unread: Vec<Unread>,
}

#[derive(Default)]
struct Desk {
    queue: Mutex<Queue>,
    changed: Condvar,
}

/// Functions to be judged, and whether they are plain.
struct Job {
    index: Arc<Index>,
    functions: Vec<(Id, bool)>,
}

type Answer = Vec<(Id, Judged)>;

pub(super) fn check(folder: &Path) -> Report {
    let layout = manifest::layout(folder);
    let desk = Desk::default();
    for target in &layout.targets {
        desk.lock()
            .add(target.root.clone(), true, target.library.clone(), None, Vec::new());
    }
    let readers = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        let (answer, answers) = channel();
        let (finished, all_finished) = channel();
        let mut jobs = Vec::new();
        for reader in 0..readers {
            let (job, own_jobs) = channel();
            let (desk, answer, finished) = (&desk, answer.clone(), finished.clone());
            let read = move || {
                let functions = desk.read(reader);
                // The main thread waits for this as long as it lives.
                let _ = finished.send(());
                drop(finished);
                serve(&functions, &own_jobs, &answer);
            };
            let named = thread::Builder::new().stack_size(STACK_BYTES);
            named
                .spawn_scoped(scope, read)
                .expect("the system has a thread to spare");
            jobs.push(job);
        }
        drop(finished);
        all_finished.into_iter().for_each(drop);
        let queue = std::mem::take(&mut *desk.lock());
        Crew { jobs, answers }.report(folder, layout, queue)
    })
}

/// Answers for the functions of this thread's files until nobody asks any more.
fn serve(functions: &BTreeMap<u32, Vec<ItemFn>>, jobs: &Receiver<Job>, answer: &Sender<Answer>) {
    for job in jobs {
        let judged = job.functions.iter().filter_map(|(id, is_plain)| {
            let function = functions.get(&id.file)?.get(usize::try_from(id.at).ok()?)?;
            Some((*id, judge(&job.index, *id, function, *is_plain)))
        });
        if answer.send(judged.collect()).is_err() {
            return;
        }
    }
}

/// The threads, to be asked.
struct Crew {
    jobs: Vec<Sender<Job>>,
    answers: Receiver<Answer>,
}

impl Crew {
    fn report(&self, folder: &Path, layout: Layout, queue: Queue) -> Report {
        let files = usize::try_from(queue.files).expect("an index fits");
        let mut outlines: Vec<Outline> = (0..files).map(|_| Outline::default()).collect();
        let mut sources: Vec<Source> = (0..files).map(|_| Source::default()).collect();
        let mut libraries = BTreeMap::new();
        let mut declared = Vec::new();
        let read = queue.read.len();
        for Read { task, outline, reader } in queue.read {
            let top = Id { file: task.file, at: 0 };
            libraries.extend(task.library.map(|name| (name, top)));
            declared.extend(task.declared.map(|(parent, name)| (parent, name, top)));
            let at = usize::try_from(task.file).expect("an index fits");
            if let (Some(slot), Some(source)) = (outlines.get_mut(at), sources.get_mut(at)) {
                *slot = outline;
                *source = Source {
                    label: label(folder, &task.path),
                    reader,
                };
            }
        }
        for (parent, name, module) in declared {
            join(&mut outlines, parent, name, module);
        }
        let index = Arc::new(Index::new(outlines, libraries));
        let mut report = follow::follow(&index, &sources, &layout.steadfast, |functions| {
            self.ask(&index, &sources, functions)
        });
        report.files = read;
        report.lines = index.lines();
        let unread = layout.unread.into_iter().chain(queue.unread);
        report.unread = unread
            .map(|unread| unread.labelled(|path| label(folder, path)))
            .collect();
        report.unread.sort();
        report.unread.dedup();
        report
    }

    fn ask(&self, index: &Arc<Index>, sources: &[Source], functions: Vec<(Id, bool)>) -> Answer {
        let mut shares: BTreeMap<usize, Vec<(Id, bool)>> = BTreeMap::new();
        for (id, is_plain) in functions {
            let source = usize::try_from(id.file).ok().and_then(|file| sources.get(file));
            shares
                .entry(source.map_or(0, |source| source.reader))
                .or_default()
                .push((id, is_plain));
        }
        let mut asked = 0;
        for (reader, functions) in shares {
            let job = Job {
                index: Arc::clone(index),
                functions,
            };
            asked += usize::from(self.jobs.get(reader).is_some_and(|jobs| jobs.send(job).is_ok()));
        }
        self.answers.iter().take(asked).flatten().collect()
    }
}

/// Makes a file's top the module that another file declares.
fn join(outlines: &mut [Outline], parent: Id, name: String, module: Id) {
    fn module_at(outlines: &mut [Outline], id: Id) -> Option<&mut super::outline::Module> {
        let outline = outlines.get_mut(usize::try_from(id.file).ok()?)?;
        outline.modules.get_mut(usize::try_from(id.at).ok()?)
    }
    if let Some(top) = module_at(outlines, module) {
        top.parent = Some(parent);
    }
    if let Some(parent) = module_at(outlines, parent) {
        parent.names.entry(name).or_default().push(Definition::Module(module));
    }
}

/// How a path is shown: from the folder on, if that was given in full or is the current one.
fn label(folder: &Path, path: &Path) -> String {
    let short = path
        .strip_prefix(folder)
        .ok()
        .filter(|_| folder.is_absolute() || folder == Path::new("."));
    short.unwrap_or(path).display().to_string()
}

impl Queue {
    fn add(
        &mut self,
        path: PathBuf,
        owns_folder: bool,
        library: Option<String>,
        declared: Option<(Id, String)>,
        above: Vec<PathBuf>,
    ) {
        let file = self.files;
        self.files += 1;
        self.waiting.push(Task {
            file,
            path,
            owns_folder,
            library,
            declared,
            above,
        });
    }
}

impl Desk {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads until no file is left and nobody can find another.
    fn read(&self, reader: usize) -> BTreeMap<u32, Vec<ItemFn>> {
        let mut functions = BTreeMap::new();
        while let Some(task) = self.next() {
            let read = parse(&task);
            let mut queue = self.lock();
            queue.busy -= 1;
            match read {
                Ok((mut outline, own)) => {
                    functions.insert(task.file, own);
                    for child in std::mem::take(&mut outline.children) {
                        queue.child(&task, child);
                    }
                    queue.read.push(Read { task, outline, reader });
                }
                Err(unread) => queue.unread.push(unread),
            }
            drop(queue);
            self.changed.notify_all();
        }
        functions
    }

    fn next(&self) -> Option<Task> {
        let mut queue = self.lock();
        loop {
            if let Some(task) = queue.waiting.pop() {
                queue.busy += 1;
                return Some(task);
            }
            if queue.busy == 0 {
                return None;
            }
            queue = self.changed.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Queue {
    /// Queues the file of a `mod name;`.
    fn child(&mut self, task: &Task, child: Child) {
        let mut found = child.candidates.iter().filter(|path| path.is_file()).peekable();
        let unread = |reason: String| Unread::at(task.path.clone(), child.line, child.column, reason);
        if found.peek().is_none() && !child.is_conditional {
            self.unread
                .push(unread(format!("the module `{}` has no file", child.name)));
        }
        let mut above = task.above.clone();
        above.extend(task.path.canonicalize());
        for path in found {
            if path.canonicalize().is_ok_and(|path| above.contains(&path)) {
                self.unread
                    .push(unread(format!("the module `{}` is a file that leads here", child.name)));
                continue;
            }
            let is_usual = [format!("{}.rs", child.name), "mod.rs".to_owned()];
            let owns_folder = !path
                .file_name()
                .is_some_and(|name| is_usual.iter().any(|usual| name == usual.as_str()));
            self.add(
                path.clone(),
                owns_folder,
                None,
                Some((child.parent, child.name.clone())),
                above.clone(),
            );
        }
    }
}

fn parse(task: &Task) -> Result<(Outline, Vec<ItemFn>), Unread> {
    let read = std::fs::read_to_string(&task.path);
    let text = read.map_err(|error| Unread::file(task.path.clone(), error.to_string()))?;
    let syntax = syn::parse_file(&text).map_err(|error| {
        let start = error.span().start();
        Unread::at(task.path.clone(), start.line, start.column + 1, error.to_string())
    })?;
    let (mut outline, functions) = gather(task.file, syntax, &Place::of(&task.path, task.owns_folder));
    outline.lines = text.lines().count();
    Ok((outline, functions))
}
