"""``python -m splmll`` is ``splmll``."""

from splmll.cli import main

if __name__ == "__main__":
    main()
