"""What holds for every test: Ctrl-C works, also where the tests run as a background job and it would be ignored."""

import signal

signal.signal(signal.SIGINT, signal.default_int_handler)  # what the tests start inherits it
