{% include 'lib/int64.wgsl' %}

// Indices that come from a tensor, as offsets. Where they are known only in the run (``watched``),
// one that leaves its extent is put into its word of ``strays``, and the run ends in an error.
{% if watched %}
@group(0) @binding(4) var<storage, read_write> strays: array<atomic<u32>>;

{% endif %}
// An index that may count from the end, as an offset within the extent; the nearest where it
// leaves it, so that nothing outside of a tensor is touched.
fn resolve_index(index: i32, extent: u32, word: u32) -> u32 {
  let from_front = select(index, index + i32(extent), index < 0);
  let nearest = clamp(from_front, 0, i32(extent) - 1);
{% if watched %}
  if (nearest != from_front) {
    atomicMax(&strays[word], bitcast<u32>(index));
  }
{% endif %}
  return u32(nearest);
}
