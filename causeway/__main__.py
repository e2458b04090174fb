import sys

from causeway.cli import main

sys.exit(main())
