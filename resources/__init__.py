"""Data that ships with Opscope: provider tables, sample models, icons."""
