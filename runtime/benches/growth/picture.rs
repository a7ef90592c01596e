//! The picture: panels two by two, drawn as SVG.

use crate::{Curve, Panel};
use plotters::coord::Shift;
use plotters::prelude::*;
use std::error::Error;
use std::ops::Range;

type Fault = Box<dyn Error>;
type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Chart<'a, 'b> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<LogCoord<f64>, LogCoord<f64>>>;

const SIZE: (u32, u32) = (1_200, 860);
const FONT: &str = "sans-serif";
/// Told apart by people who see few colours, and in grey.
const COLOURS: [RGBColor; 4] = [
    RGBColor(0, 90, 181),
    RGBColor(220, 110, 0),
    RGBColor(120, 120, 120),
    RGBColor(150, 60, 150),
];

pub(crate) fn draw(panels: &[Panel]) -> Result<String, Fault> {
    let mut svg = String::new();
    {
        let all = SVGBackend::with_string(&mut svg, SIZE).into_drawing_area();
        all.fill(&WHITE)?;
        for (area, panel) in all.split_evenly((2, 2)).iter().zip(panels) {
            draw_panel(area, panel)?;
        }
        all.present()?;
    }
    Ok(svg)
}

fn draw_panel(area: &Area<'_>, panel: &Panel) -> Result<(), Fault> {
    let points = || panel.curves.iter().flat_map(|curve| curve.points.iter().copied());
    let (Some(across), Some(up)) = (span(points().map(|point| point.0)), span(points().map(|point| point.1))) else {
        let style = (FONT, 15).into_font().color(&BLACK);
        area.draw_text(&format!("{}: no line tells", panel.title), &style, (60, 40))?;
        return Ok(());
    };
    let mut chart = ChartBuilder::on(area)
        .margin(14)
        .caption(panel.title, (FONT, 18))
        .x_label_area_size(42)
        .y_label_area_size(72)
        .build_cartesian_2d(across.log_scale(), up.log_scale())?;
    chart
        .configure_mesh()
        .x_desc(panel.across)
        .y_desc(panel.up)
        .x_label_formatter(&short)
        .y_label_formatter(&short)
        .label_style((FONT, 13))
        .axis_desc_style((FONT, 14))
        .light_line_style(RGBColor(240, 240, 240))
        .bold_line_style(RGBColor(215, 215, 215))
        .draw()?;
    for (curve, colour) in panel.curves.iter().zip(COLOURS) {
        draw_curve(&mut chart, curve, colour)?;
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperLeft)
        .background_style(WHITE.mix(0.85))
        .border_style(RGBColor(200, 200, 200))
        .label_font((FONT, 13))
        .draw()?;
    Ok(())
}

fn draw_curve(chart: &mut Chart<'_, '_>, curve: &Curve, colour: RGBColor) -> Result<(), Fault> {
    if curve.points.is_empty() {
        return Ok(());
    }
    chart
        .draw_series(LineSeries::new(curve.points.iter().copied(), colour.stroke_width(2)))?
        .label(curve.name)
        .legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], colour.stroke_width(2)));
    let dots = curve.points.iter().map(|point| Circle::new(*point, 3, colour.filled()));
    chart.draw_series(dots)?;
    Ok(())
}

/// From the smallest to the largest, with room on both sides, and more above for the names of the curves.
fn span(values: impl Iterator<Item = f64>) -> Option<Range<f64>> {
    let (low, high) = values.fold((f64::INFINITY, 0.0_f64), |(low, high), value| {
        (low.min(value), high.max(value))
    });
    (low <= high).then(|| low / 1.6..high * 1.6)
}

/// `20k` rather than `20000`.
fn short(value: &f64) -> String {
    let (value, unit) = match value.abs() {
        1e9.. => (value / 1e9, "G"),
        1e6.. => (value / 1e6, "M"),
        1e3.. => (value / 1e3, "k"),
        _ => (*value, ""),
    };
    let text = format!("{value:.2}");
    format!("{}{unit}", text.trim_end_matches('0').trim_end_matches('.'))
}
