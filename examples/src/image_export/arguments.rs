//! What a person types, and the job it means. Absent on purpose: looking at any file.

use super::job::{ExportJob, Format};
use clap::Parser;
use std::path::{Path, PathBuf};

/// Where everything goes that was not given a place.
const HOME: &str = "target/image-export";

/// Exports a folder of page images as one ZIP of rendered pages.
///
/// Kill it at any instant and start it again with the same arguments: it goes on where it was, and pages that were
/// done are not done again. Without arguments it exports sample pages that it draws itself.
#[derive(Clone, Debug, Parser)]
#[command(name = "image-export", version, max_term_width = 110)]
pub struct Arguments {
    /// The folder of page images (PNG, JPEG, WebP); every file in it is a page, except hidden ones [default: samples]
    #[arg(long, value_name = "DIR")]
    pub pages: Option<PathBuf>,

    /// The ZIP to write [default: FOLDER.zip here; sample pages go to target/image-export/sample-pages.zip]
    #[arg(long, value_name = "FILE.zip")]
    pub out: Option<PathBuf>,

    /// Where the journal and the work files are kept; one program at a time can use it
    #[arg(long, value_name = "DIR", default_value_os_t = Path::new(HOME).join("data"))]
    pub data: PathBuf,

    /// A name for this export, to resume it by [default: made from --out, and numbered]
    #[arg(long, value_name = "ID", value_parser = parse_id)]
    pub id: Option<String>,

    /// How the rendered pages are encoded
    #[arg(long, value_enum, default_value_t = Format::Jpg)]
    pub format: Format,

    /// Scale wider pages down to this many pixels; narrower ones keep their size
    #[arg(long, value_name = "PX", default_value_t = 800, value_parser = clap::value_parser!(u32).range(1..=20_000))]
    pub width: u32,

    /// How many pages are prepared at once, at most
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u16).range(1..))]
    pub prepare: u16,

    /// How many pages are rendered at once, at most
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u16).range(1..))]
    pub render: u16,

    /// Pause this many milliseconds at each page, to have time for a kill
    #[arg(long, value_name = "MS", default_value_t = 0)]
    pub slow: u64,
}

impl Arguments {
    /// Where the sample pages are, if those are to be exported.
    pub fn samples(&self) -> Option<PathBuf> {
        self.pages.is_none().then(|| Path::new(HOME).join("sample-pages"))
    }

    /// The job these arguments mean, with absolute paths, so that it can be resumed from any folder. Its id is the given
    /// one or the default.
    pub fn job(&self) -> Result<ExportJob, String> {
        let pages = absolute(&self.samples().or(self.pages.clone()).unwrap_or_default())?;
        let out = match (&self.out, &self.pages) {
            (Some(out), _) => absolute(out)?,
            (None, None) => absolute(&Path::new(HOME).join("sample-pages.zip"))?,
            (None, Some(_)) => {
                let name = pages
                    .file_name()
                    .ok_or("give the ZIP a name with --out")?
                    .to_string_lossy();
                absolute(Path::new(&format!("{name}.zip")))?
            }
        };
        if out.file_name().is_none() {
            return Err(format!("{} cannot be the name of a ZIP", out.display()));
        }
        let Self {
            format,
            width,
            prepare,
            render,
            ..
        } = *self;
        let mut job = ExportJob {
            id: String::new(),
            pages,
            out,
            format,
            width,
            prepare,
            render,
        };
        job.id = self.id.clone().unwrap_or_else(|| job.default_id());
        Ok(job)
    }
}

/// Absolute, and UTF-8, as the journal needs it.
fn absolute(path: &Path) -> Result<PathBuf, String> {
    let absolute = std::path::absolute(path).map_err(|error| format!("the path {path:?} means nothing: {error}"))?;
    match absolute.to_str() {
        Some(_) => Ok(absolute),
        None => Err(format!("the path {} is not UTF-8", absolute.display())),
    }
}

/// An id names a folder too.
fn parse_id(id: &str) -> Result<String, String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    match id {
        "" | "." | ".." => Err("an id needs a letter or a digit".into()),
        _ if id.len() > 100 => Err("an id has 100 characters at most".into()),
        _ if !id.chars().all(plain) => Err("an id is made of letters, digits, `-`, `_` and `.`".into()),
        _ => Ok(id.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    fn parse(words: &[&str]) -> Result<Arguments, clap::Error> {
        Arguments::try_parse_from(["image-export"].iter().chain(words))
    }

    #[test]
    fn the_command_line_is_consistent() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn no_arguments_export_the_sample_pages() {
        let arguments = parse(&[]).unwrap();
        let job = arguments.job().unwrap();
        assert!(job.pages.ends_with("target/image-export/sample-pages"));
        assert!(job.out.ends_with("target/image-export/sample-pages.zip"));
        assert_eq!((job.format, job.prepare, job.render), (Format::Jpg, 10, 3));
        assert!(job.id.starts_with("export-"));
    }

    #[test]
    fn the_zip_is_named_after_the_folder() {
        let job = parse(&["--pages", "books/atlas/"]).unwrap().job().unwrap();
        assert_eq!(job.out, std::env::current_dir().unwrap().join("atlas.zip"));
    }

    #[test]
    fn a_pause_makes_no_other_job() {
        let (calm, slow) = (parse(&[]).unwrap(), parse(&["--slow", "50"]).unwrap());
        assert_eq!(calm.job().unwrap(), slow.job().unwrap());
    }

    #[test]
    fn limits_start_at_one_and_ids_are_plain() {
        for words in [
            ["--prepare", "0"],
            ["--render", "0"],
            ["--width", "0"],
            ["--id", "../up"],
            ["--id", ".."],
        ] {
            assert!(parse(&words).is_err(), "{words:?}");
        }
        assert_eq!(parse(&["--id", "atlas-2.b"]).unwrap().id.as_deref(), Some("atlas-2.b"));
    }
}
