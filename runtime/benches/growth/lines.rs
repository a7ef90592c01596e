//! The lines that the benchmarks print, and the numbers in them.

use serde_json::Value;

/// The lines on sled.
pub(crate) struct Lines(Vec<Value>);

impl Lines {
    /// Lines that hold no object are skipped: they come from other programs of the same run.
    pub(crate) fn read(text: &str) -> Result<Self, String> {
        let mut lines = Vec::new();
        for (number, line) in (1..).zip(text.lines()) {
            if line.trim_start().starts_with('{') {
                let line: Value = serde_json::from_str(line).map_err(|error| format!("line {number}: {error}"))?;
                lines.push(line);
            }
        }
        lines.retain(|line| line["store"] == "sled");
        match lines.is_empty() {
            true => Err("there is no line of a benchmark on sled".to_owned()),
            false => Ok(Self(lines)),
        }
    }

    /// One point for each line of the case, from the numbers at these places. A number that is unknown gives no point.
    /// Lines of the program that counts allocations stand back where the other one knows as much.
    pub(crate) fn points(&self, case: &str, aspect: &str, across: &str, up: &str) -> Vec<(f64, f64)> {
        let of = |counts: bool| -> Vec<(f64, f64)> {
            let lines = self.0.iter().filter(|line| line["counts_allocations"] == counts);
            let lines = lines.filter(|line| line["case"] == case && line["aspect"] == aspect);
            lines
                .filter_map(|line| Some((number(line, across)?, number(line, up)?)))
                .collect()
        };
        let points = of(false);
        if points.is_empty() { of(true) } else { points }
    }
}

/// The number at a place such as `references/store/rate`. Two are worked out: `each_us` and `p50_ms`.
fn number(line: &Value, place: &str) -> Option<f64> {
    let (object, name) = match place.rsplit_once('/') {
        Some((object, name)) => (line.pointer(&format!("/{object}"))?, name),
        None => (line, place),
    };
    let field = |name: &str| object.get(name)?.as_f64();
    match name {
        "each_us" => Some(1e6 / field("rate")?),
        "p50_ms" => Some(field("p50_us")? / 1e3),
        name => field(name),
    }
}
