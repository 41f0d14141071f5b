# Draws the scene once per line on stdin, so that the start of the interpreter isn't measured.
import json
import sys

from PIL import Image, ImageDraw, ImageFont, ImageOps

scene = json.loads(sys.argv[1])
fonts = [ImageFont.truetype(scene["font"], round(bar["fontSize"])) for bar in scene["bars"]]
print("ready", flush=True)
for _ in sys.stdin:
    image = ImageOps.exif_transpose(Image.open(scene["input"])).convert("RGB")
    draw = ImageDraw.Draw(image, "RGBA")
    for bar, font in zip(scene["bars"], fonts):
        bottom = bar["top"] + bar["height"] - 1
        draw.rectangle((0, bar["top"], image.width, bottom), fill=(0, 0, 0, scene["alpha"]))
        draw.text((image.width / 2, bar["baseline"]), bar["text"], font=font, fill="white", anchor="ms")
    image.save(scene["output"])
    print("done", flush=True)
