//! Draws the sample pages, so that the first run needs nothing. The same pages every time, to the byte.

use super::error::ExportError;
use super::files::publish_once;
use image::{ImageFormat, ImageResult, Rgb, RgbImage};
use std::io::Cursor;
use std::path::Path;

/// How many sample pages there are.
pub(super) const PAGES: u32 = 24;
/// The width of a sample page, in pixels.
pub(super) const WIDTH: u32 = 1_000;
/// The height of a sample page, in pixels.
pub(super) const HEIGHT: u32 = 1_414;

const INK: Rgb<u8> = Rgb([38, 44, 56]);
const TEXT: Rgb<u8> = Rgb([196, 190, 178]);
const MARGIN: u32 = 100;
/// The side of one of the 3 × 5 squares that make up a digit.
const SQUARE: u32 = 60;

/// The digits 0 to 9, five rows of three squares each.
const DIGITS: [[&str; 5]; 10] = [
    ["###", "# #", "# #", "# #", "###"],
    [" # ", "## ", " # ", " # ", "###"],
    ["###", "  #", "###", "#  ", "###"],
    ["###", "  #", "###", "  #", "###"],
    ["# #", "# #", "###", "  #", "  #"],
    ["###", "#  ", "###", "  #", "###"],
    ["###", "#  ", "###", "# #", "###"],
    ["###", "  #", "  #", "  #", "  #"],
    ["###", "# #", "###", "# #", "###"],
    ["###", "# #", "###", "  #", "###"],
];

/// Draws the sample pages into `folder`, those that are not there yet.
pub(super) fn draw_into(folder: &Path) -> Result<(), ExportError> {
    // Two programs may draw at once.
    let temporary = folder.join(format!(".drawing-{}.part", std::process::id()));
    for number in 1..=PAGES {
        let target = folder.join(format!("page-{number}.png"));
        if !target.exists() {
            let bytes = draw(number).expect("a small image fits in memory, and PNG encodes every image");
            publish_once(&bytes, &temporary, &target)?;
        }
    }
    Ok(())
}

/// A page with its number above lines of grey text, as PNG.
pub(super) fn draw(number: u32) -> ImageResult<Vec<u8>> {
    let shade = u8::try_from(number * 37 % 40).unwrap_or(0);
    let mut page = RgbImage::from_pixel(WIDTH, HEIGHT, Rgb([250 - shade / 2, 246 - shade / 4, 215 + shade]));
    for (place, digit) in (0..).zip(number.to_string().bytes()) {
        let left = MARGIN + place * 4 * SQUARE;
        for (row, squares) in (0..).zip(DIGITS[usize::from(digit - b'0')]) {
            for (column, _) in (0..).zip(squares.bytes()).filter(|(_, square)| *square == b'#') {
                fill(
                    &mut page,
                    left + column * SQUARE,
                    MARGIN + row * SQUARE,
                    SQUARE,
                    SQUARE,
                    INK,
                );
            }
        }
    }
    for line in 0..22 {
        let length = WIDTH - 2 * MARGIN - (number * 131 + line * 197) % 260;
        fill(&mut page, MARGIN, 500 + line * 38, length, 14, TEXT);
    }
    let mut bytes = Cursor::new(Vec::new());
    page.write_to(&mut bytes, ImageFormat::Png)?;
    Ok(bytes.into_inner())
}

fn fill(page: &mut RgbImage, left: u32, top: u32, width: u32, height: u32, colour: Rgb<u8>) {
    for y in top..top + height {
        for x in left..left + width {
            page.put_pixel(x, y, colour);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn drawing_again_completes_the_folder_and_changes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        draw_into(folder.path()).unwrap();
        let first = fs::read(folder.path().join("page-1.png")).unwrap();
        fs::remove_file(folder.path().join("page-1.png")).unwrap();
        fs::write(folder.path().join("page-2.png"), "mine").unwrap();
        draw_into(folder.path()).unwrap();
        assert_eq!(fs::read(folder.path().join("page-1.png")).unwrap(), first);
        assert_eq!(fs::read_to_string(folder.path().join("page-2.png")).unwrap(), "mine");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), PAGES as usize);
    }
}
