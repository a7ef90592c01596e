//! The picture: panels two by two, drawn as SVG.

use crate::{Curve, Panel};
use plotters::coord::Shift;
use plotters::coord::combinators::WithKeyPoints;
use plotters::prelude::*;
use std::error::Error;
use std::ops::Range;

type Fault = Box<dyn Error>;
type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Axis = WithKeyPoints<LogCoord<f64>>;
type Chart<'a, 'b> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<Axis, Axis>>;

const SIZE: (u32, u32) = (1_200, 860);
const FONT: &str = "sans-serif";
/// With more decades on an axis, numbers between the powers of ten would touch.
const DECADES_WITH_ROOM: f64 = 5.0;
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
    let (Some(wide), Some(high)) = (ends(points().map(|point| point.0)), ends(points().map(|point| point.1))) else {
        let style = (FONT, 15).into_font().color(&BLACK);
        area.draw_text(&format!("{}: no line tells", panel.title), &style, (60, 40))?;
        return Ok(());
    };
    let mut chart = ChartBuilder::on(area)
        .margin(14)
        .caption(panel.title, (FONT, 18))
        .x_label_area_size(42)
        .y_label_area_size(72)
        .build_cartesian_2d(axis(across(wide)), axis(up(high)))?;
    chart
        .configure_mesh()
        .x_desc(panel.across)
        .y_desc(panel.up)
        .x_label_formatter(&short)
        .y_label_formatter(&short)
        .label_style((FONT, 13))
        .axis_desc_style((FONT, 14))
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
    let label = match (curve.points.is_empty(), curve.left_out) {
        (true, 0) => return Ok(()),
        (false, 0) => curve.name.to_owned(),
        _ => format!("{} ({})", curve.name, curve.left_out_words()),
    };
    chart
        .draw_series(LineSeries::new(curve.points.iter().copied(), colour.stroke_width(2)))?
        .label(label)
        .legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], colour.stroke_width(2)));
    let dots = curve.points.iter().map(|point| Circle::new(*point, 3, colour.filled()));
    chart.draw_series(dots)?;
    Ok(())
}

/// The smallest and the largest.
fn ends(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    let ends = values.fold((f64::INFINITY, 0.0_f64), |(low, high), value| {
        (low.min(value), high.max(value))
    });
    (ends.0 <= ends.1).then_some(ends)
}

/// Whole powers of ten, so that every axis has numbers at it.
fn powers((low, high): (f64, f64)) -> (f64, f64) {
    let (low, high) = (low.log10().floor(), high.log10().ceil());
    (low, high.max(low + 1.0))
}

fn across(ends: (f64, f64)) -> Range<f64> {
    let (low, high) = match ends.1 / ends.0 {
        30.0.. => (ends.0.log10(), ends.1.log10()),
        _ => powers(ends),
    };
    10_f64.powf(low - 0.1)..10_f64.powf(high + 0.1)
}

/// With room above for the names of the curves.
fn up(ends: (f64, f64)) -> Range<f64> {
    let (low, high) = powers(ends);
    10_f64.powf(low)..10_f64.powf(high + 0.35 * (high - low))
}

/// With lines and numbers at powers of ten, and at twice and five times these where there is room.
fn axis(range: Range<f64>) -> Axis {
    let decades = (range.end / range.start).log10();
    let digits: &[f64] = if decades > DECADES_WITH_ROOM {
        &[1.0]
    } else {
        &[1.0, 2.0, 5.0]
    };
    let powers = range.start.log10().floor() as i32..=range.end.log10().ceil() as i32;
    let points = powers.flat_map(|power| digits.iter().map(move |digit| digit * 10_f64.powi(power)));
    let points = points.filter(|point| range.contains(point)).collect();
    range.log_scale().with_key_points(points)
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
