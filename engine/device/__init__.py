"""The adapter, buffers, pipelines, encoding and timestamps: the only importer of wgpu."""
