// A matrix product through tiles in workgroup memory; lib/product.wgsl says which.
// Bindings: 0 params; 1 a; 2 b; 3 d; 4 c, all read and written through strides.
// Grid: x column tiles, y row tiles, z batches, from params.first on; a workgroup owns one tile
// of bm x bn, an invocation tm x tn of it. Loads outside of an operand read its element 0 and
// count as zero: the kernel is safe without the driver's bounds checks.
alias Element = {{ element }};

{% include 'lib/math.wgsl' %}
{% include 'lib/activation.wgsl' %}
{% include 'lib/product.wgsl' %}

var<workgroup> tile_a: array<vec4<f32>, {{ bk * (bm // 4 + 1) }}>;
var<workgroup> tile_b: array<vec4<f32>, {{ bk * (bn // 4) }}>;

fn load_a(base: u32, row: u32, k: u32) -> f32 {
  let inside = row < params.rows && k < params.depth;
  let at = select(0u, base + row * params.a_row + k * params.a_depth, inside);
  return select(0.0, f32(a[at]), inside);
}

fn load_b(base: u32, k: u32, column: u32) -> f32 {
  let inside = column < params.columns && k < params.depth;
  let at = select(0u, base + k * params.b_depth + column * params.b_column, inside);
  return select(0.0, f32(b[at]), inside);
}

fn store(base: u32, row: u32, column: u32, sum: f32) {
  if (row < params.rows && column < params.columns) {
    c[base + row * params.c_row + column * params.c_column] = result(sum, row, column);
  }
}

fn store4(base: u32, row: u32, column: u32, sums: vec4<f32>) {
  store(base, row, column, sums.x);
  store(base, row, column + 1u, sums.y);
  store(base, row, column + 2u, sums.z);
  store(base, row, column + 3u, sums.w);
}

@compute @workgroup_size({{ threads }})
fn main(
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(local_invocation_index) local: u32,
) {
  let tile = group + params.first.xyz;
  let row0 = tile.y * {{ bm }}u;
  let column0 = tile.x * {{ bn }}u;
  let a_base = params.a_base + batch_offset(tile.z, params.a_batch);
  let b_base = params.b_base + batch_offset(tile.z, params.b_batch);
  let c_base = params.c_base + batch_offset(tile.z, params.c_batch);
{% include 'lib/tile_sums.wgsl' %}
  for (var k0 = 0u; k0 < params.depth; k0 += {{ bk }}u) {
{% for u in range(bk * bm // 4 // threads) %}
    {
      let unit = local + {{ u * threads }}u;
      // Neighbours read neighbours: along k where the left operand is dense there, else along m.
{% if a_dense == "depth" %}
      let k = unit % {{ bk }}u;
      let row = unit / {{ bk }}u;
{% else %}
      let k = unit / {{ bm // 4 }}u;
      let row = unit % {{ bm // 4 }}u;
{% endif %}
      let at = row0 + row * 4u;
      tile_a[k * {{ bm // 4 + 1 }}u + row] = vec4<f32>(
        load_a(a_base, at, k0 + k),
        load_a(a_base, at + 1u, k0 + k),
        load_a(a_base, at + 2u, k0 + k),
        load_a(a_base, at + 3u, k0 + k),
      );
    }
{% endfor %}
{% for u in range(bk * bn // threads) %}
    {
      let unit = local + {{ u * threads }}u;
{% if b_dense == "column" %}
      let k = unit / {{ bn }}u;
      let column = unit % {{ bn }}u;
{% else %}
      let k = unit % {{ bk }}u;
      let column = unit / {{ bk }}u;
{% endif %}
      let value = load_b(b_base, k0 + k, column0 + column);
      tile_b[k * {{ bn // 4 }}u + column / 4u][column % 4u] = value;
    }
{% endfor %}
    workgroupBarrier();
{% include 'lib/tile_product.wgsl' %}
    workgroupBarrier();
  }
{% for i in range(tm) %}
{% for j in range(tn // 4) %}
  store4(
    c_base,
    row0 + (ly + {{ i // 4 * (bm // tm) }}u) * 4u + {{ i % 4 }}u,
    column0 + (lx + {{ j * (bn // tn) }}u) * 4u,
    c{{ i }}_{{ j }},
  );
{% endfor %}
{% endfor %}
}
