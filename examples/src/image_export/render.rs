//! Renders a prepared page: upright, no wider than asked, encoded. The same snapshot gives the same bytes every time,
//! and the name of the result says what it was made from, so rendering twice makes one file.

use super::error::ExportError;
use super::files::{WorkFolder, publish_once};
use super::job::{ExportJob, Format, Page, Prepared, Rendered};
use image::codecs::jpeg::JpegEncoder;
use image::codecs::png::PngEncoder;
use image::codecs::webp::WebPEncoder;
use image::imageops::{self, FilterType};
use image::{DynamicImage, ImageDecoder, ImageReader, ImageResult, RgbImage, RgbaImage};
use std::fs;
use std::io::{BufRead, BufReader, Seek};

const JPEG_QUALITY: u8 = 85;

/// Renders `prepared` as `job` asks and puts the result among the work files.
pub(super) fn render(job: &ExportJob, prepared: &Prepared, work: &WorkFolder) -> Result<Rendered, ExportError> {
    let page = &prepared.page;
    let file = format!("{}-{}.{}", prepared.digest, job.width, job.format.extension());
    let target = work.rendered(&file);
    let size = match fs::metadata(&target) {
        // An attempt that was killed before its result was recorded had got this far.
        Ok(metadata) => metadata.len(),
        Err(_) => {
            let image = decode(page, BufReader::new(work.open_snapshot(prepared)?))?;
            let bytes = encode(&narrowed(image, job.width), job.format).map_err(|source| ExportError::Unencodable {
                page: page.name.clone(),
                source,
            })?;
            publish_once(&bytes, &work.temporary("render", page), &target)?;
            bytes.len() as u64
        }
    };
    Ok(Rendered {
        page: page.clone(),
        file,
        size,
    })
}

/// The image of `page`, upright as its camera meant it.
pub(super) fn decode(page: &Page, bytes: impl BufRead + Seek) -> Result<DynamicImage, ExportError> {
    let decode = || -> ImageResult<DynamicImage> {
        let mut decoder = ImageReader::new(bytes).with_guessed_format()?.into_decoder()?;
        let orientation = decoder.orientation()?;
        let mut image = DynamicImage::from_decoder(decoder)?;
        image.apply_orientation(orientation);
        Ok(image)
    };
    decode().map_err(|source| ExportError::NotAnImage {
        page: page.name.clone(),
        source,
    })
}

/// Scaled down to `width`. Never scaled up: that would add bytes, not detail.
fn narrowed(image: DynamicImage, width: u32) -> DynamicImage {
    if image.width() <= width {
        return image;
    }
    let height = (u64::from(image.height()) * u64::from(width)).div_ceil(u64::from(image.width()));
    // Not above the original height, which was a `u32`.
    image.resize_exact(width, u32::try_from(height).unwrap_or(u32::MAX), FilterType::Lanczos3)
}

/// Eight bits for each channel, which every format and every viewer knows.
fn encode(image: &DynamicImage, format: Format) -> ImageResult<Vec<u8>> {
    let mut bytes = Vec::new();
    let transparent = image.color().has_alpha();
    match format {
        Format::Jpg if transparent => {
            on_white(&image.to_rgba8()).write_with_encoder(JpegEncoder::new_with_quality(&mut bytes, JPEG_QUALITY))
        }
        Format::Jpg => image
            .to_rgb8()
            .write_with_encoder(JpegEncoder::new_with_quality(&mut bytes, JPEG_QUALITY)),
        Format::Png if transparent => image.to_rgba8().write_with_encoder(PngEncoder::new(&mut bytes)),
        Format::Png => image.to_rgb8().write_with_encoder(PngEncoder::new(&mut bytes)),
        Format::Webp if transparent => image
            .to_rgba8()
            .write_with_encoder(WebPEncoder::new_lossless(&mut bytes)),
        Format::Webp => image
            .to_rgb8()
            .write_with_encoder(WebPEncoder::new_lossless(&mut bytes)),
    }?;
    Ok(bytes)
}

/// JPEG knows no transparency, and paper is white.
fn on_white(image: &RgbaImage) -> RgbImage {
    let mut paper = RgbaImage::from_pixel(image.width(), image.height(), image::Rgba([255; 4]));
    imageops::overlay(&mut paper, image, 0, 0);
    DynamicImage::from(paper).to_rgb8()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::image_export::{samples, snapshot};
    use image::{ImageFormat, Rgba};
    use std::path::Path;

    fn job(folder: &Path, format: Format, width: u32) -> ExportJob {
        let (pages, out) = (folder.to_owned(), folder.join("out.zip"));
        ExportJob {
            id: "test".into(),
            pages,
            out,
            format,
            width,
            prepare: 1,
            render: 1,
        }
    }

    fn rendered(folder: &Path, format: Format, width: u32) -> Vec<u8> {
        let work = WorkFolder::of(folder, "test");
        fs::write(folder.join("1.png"), samples::draw(1).unwrap()).unwrap();
        let prepared = snapshot::prepare(
            folder,
            &Page {
                position: 1,
                name: "1.png".into(),
            },
            &work,
        )
        .unwrap();
        let rendered = render(&job(folder, format, width), &prepared, &work).unwrap();
        let bytes = fs::read(work.rendered(&rendered.file)).unwrap();
        assert_eq!(bytes.len() as u64, rendered.size);
        bytes
    }

    #[test]
    fn every_format_is_what_it_says_and_the_same_every_time() {
        for (format, expected) in [
            (Format::Jpg, ImageFormat::Jpeg),
            (Format::Png, ImageFormat::Png),
            (Format::Webp, ImageFormat::WebP),
        ] {
            let (first, second) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
            let bytes = rendered(first.path(), format, 300);
            assert_eq!(image::guess_format(&bytes).unwrap(), expected);
            assert_eq!(image::load_from_memory(&bytes).unwrap().width(), 300);
            assert_eq!(bytes, rendered(second.path(), format, 300));
        }
    }

    #[test]
    fn a_narrow_page_is_not_enlarged() {
        let folder = tempfile::tempdir().unwrap();
        let image = image::load_from_memory(&rendered(folder.path(), Format::Png, 20_000)).unwrap();
        assert_eq!((image.width(), image.height()), (samples::WIDTH, samples::HEIGHT));
    }

    #[test]
    fn the_thinnest_page_keeps_a_pixel_of_height() {
        let image = narrowed(DynamicImage::new_rgb8(4_000, 1), 10);
        assert_eq!((image.width(), image.height()), (10, 1));
    }

    #[test]
    fn transparent_paper_is_white_in_a_jpeg() {
        let clear = DynamicImage::from(RgbaImage::from_pixel(8, 8, Rgba([0, 0, 0, 0])));
        let jpeg = image::load_from_memory(&encode(&clear, Format::Jpg).unwrap()).unwrap();
        assert!(jpeg.to_rgb8().pixels().all(|pixel| pixel.0 == [255; 3]));
    }
}
