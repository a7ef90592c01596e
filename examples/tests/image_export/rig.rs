//! A folder with pages, and the program running in it.

use image::{ImageFormat, Rgb, RgbImage};
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Cursor, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, Stdio};
use tempfile::TempDir;

/// `pages/`, `data/` and `out.zip` in a temporary folder.
pub(crate) struct Rig {
    folder: TempDir,
}

impl Rig {
    pub(crate) fn new(pages: usize) -> Self {
        let rig = Self {
            folder: tempfile::tempdir().unwrap(),
        };
        fs::create_dir(rig.path("pages")).unwrap();
        for number in 1..=pages {
            let shade = u8::try_from(number * 16).unwrap();
            let mut page = RgbImage::from_pixel(64, 96, Rgb([shade, 255 - shade, 128]));
            page.put_pixel(u32::from(shade) / 4, 20, Rgb([0, 0, 0]));
            let mut bytes = Cursor::new(Vec::new());
            page.write_to(&mut bytes, ImageFormat::Png).unwrap();
            rig.replace(&format!("pages/page-{number}.png"), bytes.get_ref());
        }
        rig
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Starts the program, with the usual folders unless `words` say otherwise.
    pub(crate) fn start(&self, words: &[&str]) -> Program {
        let mut command = Command::new(env!("CARGO_BIN_EXE_image-export"));
        for usual in [["--pages", "pages"], ["--out", "out.zip"], ["--data", "data"]] {
            if !words.contains(&usual[0]) {
                command.args(usual);
            }
        }
        command
            .args(words)
            .current_dir(self.folder.path())
            .env("RUST_LOG", "steadfast_examples=debug");
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stderr.take().unwrap());
        Program {
            child,
            lines,
            log: Vec::new(),
        }
    }

    /// Runs the program to its end.
    pub(crate) fn export(&self, words: &[&str]) -> Ended {
        self.start(words).finish()
    }

    pub(crate) fn zip(&self) -> Vec<u8> {
        fs::read(self.path("out.zip")).unwrap()
    }

    pub(crate) fn pages_in_zip(&self) -> usize {
        zip::ZipArchive::new(File::open(self.path("out.zip")).unwrap())
            .unwrap()
            .len()
    }

    /// Temporary and work files that outlived the export.
    pub(crate) fn leftovers(&self) -> Vec<String> {
        let names = |folder: &Path| {
            let entries = fs::read_dir(folder).unwrap();
            entries
                .map(|entry| entry.unwrap().file_name().into_string().unwrap())
                .collect::<Vec<_>>()
        };
        let mut left = names(self.folder.path());
        left.retain(|name| !["pages", "data", "out.zip"].contains(&name.as_str()));
        left.extend(names(&self.path("data/work")));
        left
    }

    /// Returns the bytes that the page had.
    pub(crate) fn replace_page(&self, page: &str, bytes: &[u8]) -> Vec<u8> {
        let name = format!("pages/{page}");
        let old = fs::read(self.path(&name)).unwrap();
        self.replace(&name, bytes);
        old
    }

    pub(crate) fn replace(&self, name: &str, bytes: &[u8]) {
        fs::write(self.path(name), bytes).unwrap();
    }

    pub(crate) fn remove(&self, name: &str) {
        let path = self.path(name);
        if path.is_dir() {
            fs::remove_dir_all(path)
        } else {
            fs::remove_file(path)
        }
        .unwrap();
    }
}

/// The running program; killed when dropped.
pub(crate) struct Program {
    child: Child,
    lines: BufReader<ChildStderr>,
    log: Vec<String>,
}

impl Program {
    fn read_line(&mut self) -> bool {
        let mut line = String::new();
        let more = self.lines.read_line(&mut line).unwrap() != 0;
        if more {
            self.log.push(line.trim_end().to_owned());
        }
        more
    }

    /// False if the program ended before.
    pub(crate) fn read_lines(&mut self, count: u64) -> bool {
        (0..count).all(|_| self.read_line())
    }

    /// Reads on until a page is `doing`.
    pub(crate) fn wait_for(&mut self, doing: &str) {
        while self.read_line() {
            if self.log.last().is_some_and(|line| says(line, doing)) {
                return;
            }
        }
        panic!("the program ended before it was {doing}: {:#?}", self.log);
    }

    /// SIGKILL; returns the log.
    pub(crate) fn kill(mut self) -> Vec<String> {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        while self.read_line() {}
        std::mem::take(&mut self.log)
    }

    /// SIGINT, as Ctrl-C sends it.
    pub(crate) fn interrupt(&self) {
        let sent = Command::new("kill")
            .args(["-INT", &self.child.id().to_string()])
            .status()
            .unwrap();
        assert!(sent.success());
    }

    /// Waits for the end.
    pub(crate) fn finish(mut self) -> Ended {
        while self.read_line() {}
        let mut summary = String::new();
        self.child.stdout.take().unwrap().read_to_string(&mut summary).unwrap();
        let code = self.child.wait().unwrap().code();
        Ended {
            code,
            summary,
            log: std::mem::take(&mut self.log),
        }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // Either may fail because the program has ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// How a run ended.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) summary: String,
    pub(crate) log: Vec<String>,
}

impl Ended {
    pub(crate) fn expect_success(&self) -> &Self {
        assert_eq!(self.code, Some(0), "{self:#?}");
        self
    }

    /// The one sentence that a failed run says.
    pub(crate) fn expect_failure(&self) -> String {
        assert_eq!(self.code, Some(1), "{self:#?}");
        assert_eq!(self.summary, "", "nothing was exported");
        let sentences: Vec<_> = self.log.iter().filter(|line| line.starts_with("error: ")).collect();
        assert_eq!(sentences.len(), 1, "{self:#?}");
        sentences[0].clone()
    }
}

/// Whether a line of the log says that a page is `doing` something.
fn says(line: &str, doing: &str) -> bool {
    line.contains(&format!(" {doing} page="))
}

/// How many lines of the log say so.
pub(crate) fn count(log: &[String], doing: &str) -> usize {
    log.iter().filter(|line| says(line, doing)).count()
}

/// The most pages that were between `begun` and `ended` at one time.
pub(crate) fn most_at_once(log: &[String], begun: &str, ended: &str) -> usize {
    let mut now = 0_usize;
    let mut most = 0;
    for line in log {
        if says(line, begun) {
            now += 1;
        } else if says(line, ended) {
            now -= 1;
        }
        most = most.max(now);
    }
    most
}
