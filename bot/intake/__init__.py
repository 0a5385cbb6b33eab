"""An update comes in: gate, durable inbox, polling."""
