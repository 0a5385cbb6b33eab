"""Somebody who speaks of ending their life: heard in any language that there is a file for, and answered."""
