//! The terminal reviewer: what is on the screen, and what keys do.
