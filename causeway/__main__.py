import sys

from causeway.cli.app import main

sys.exit(main())
