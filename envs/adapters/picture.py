"""Text as a picture, for ``render_mode="rgb_array"``."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

__all__ = ["draw_text"]

FONT_SIZE = 18
LINE_HEIGHT = 26
MARGIN = 16
FELT = (24, 78, 58)
INK = (244, 240, 226)


def draw_text(text: str) -> npt.NDArray[np.uint8]:
    """Write lines of text on green felt: [height, width, 3] uint8."""
    from PIL import Image, ImageDraw, ImageFont

    font = ImageFont.load_default(FONT_SIZE)
    lines = text.splitlines()
    width = max((int(font.getlength(line)) for line in lines), default=0) + 2 * MARGIN
    image = Image.new("RGB", (max(width, 320), LINE_HEIGHT * len(lines) + 2 * MARGIN), FELT)
    pen = ImageDraw.Draw(image)
    for i, line in enumerate(lines):
        pen.text((MARGIN, MARGIN + i * LINE_HEIGHT), line, fill=INK, font=font)
    return np.asarray(image)
