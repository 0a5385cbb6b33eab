"""A small copy of a picture for a model, without the camera's notes beside it, above all the place."""

from __future__ import annotations

import base64
import io
import warnings
from pathlib import Path
from typing import Any, Final

from bot.files.reading.errors import Unreadable

MOST_PIXELS: Final = 100_000_000
QUALITY: Final = 85
_GPS: Final = 0x8825


def small(path: Path, side: int) -> dict[str, Any]:
    """The copy as JPEG (`data`, base64), its size, and whether the original said where it was taken."""
    from PIL import Image, ImageOps, UnidentifiedImageError

    Image.MAX_IMAGE_PIXELS = MOST_PIXELS
    warnings.simplefilter("error", Image.DecompressionBombWarning)
    try:
        with Image.open(path) as picture:
            width, height = picture.size
            if width * height > MOST_PIXELS:
                raise Unreadable("bomb")
            has_place = bool(picture.getexif().get_ifd(_GPS))
            picture.draft("RGB", (side, side))
            turned = ImageOps.exif_transpose(picture)
            turned.thumbnail((side, side))
            flat = Image.new("RGB", turned.size, "white")
            clear = turned.convert("RGBA")
            flat.paste(clear, mask=clear.getchannel("A"))
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as exc:
        raise Unreadable("bomb") from exc
    except (UnidentifiedImageError, OSError, ValueError, SyntaxError) as exc:
        raise Unreadable("damaged") from exc
    out = io.BytesIO()
    flat.save(out, "JPEG", quality=QUALITY)
    data = base64.b64encode(out.getvalue()).decode("ascii")
    return {"data": data, "width": width, "height": height, "place": has_place}
