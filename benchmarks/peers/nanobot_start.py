"""Start nanobot with another Bot API address: it has no setting for one, so its library's builder is told here."""

import os

from telegram.ext import ApplicationBuilder

build = ApplicationBuilder.build


def build_for_loopback(builder: ApplicationBuilder) -> object:
    """Build as nanobot asked for, at the address of the environment."""
    return build(builder.base_url(f"{os.environ['TELEGRAM_API_URL']}/bot"))


ApplicationBuilder.build = build_for_loopback

if __name__ == "__main__":
    from nanobot.cli.commands import app

    app(["gateway", "--foreground"])
