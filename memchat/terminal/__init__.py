"""The terminal: the REPL, piped chat, slash commands, and the one maker of text for people."""
