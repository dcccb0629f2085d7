// y[at] = activation(sum over up to four loops of a[...] * b[...]), for sums that no stride joins.
// Bindings: 0 params; 1 a; 2 b; 3 y (dense).
// Grid: linear over params.count results from params.first on; an invocation owns one. The result's
// axes are params.outer0 (four) and params.outer1 (four more), outermost first, dense in y.
alias Element = {{ element }};

{% include 'lib/items.wgsl' %}
{% include 'lib/math.wgsl' %}
{% include 'lib/activation.wgsl' %}

// Four nested loops: their extents, and what a step of each is worth in a and in b.
struct Loops {
  extents: vec4<u32>,
  a: vec4<u32>,
  b: vec4<u32>,
}

struct Params {
  first: u32,
  count: u32,
  act_alpha: f32,
  act_beta: f32,
  outer0: Loops,
  outer1: Loops,
  summed: Loops,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> a: array<Element>;
@group(0) @binding(2) var<storage, read> b: array<Element>;
@group(0) @binding(3) var<storage, read_write> y: array<Element>;

// The four loop indices of a linear index; what is left over belongs to loops further out.
fn split(index: u32, extents: vec4<u32>) -> vec4<u32> {
  let w = index / extents.w;
  let z = w / extents.z;
  return vec4<u32>(z / extents.y % extents.x, z % extents.y, w % extents.z, index % extents.w);
}

fn run_item(item: u32) {
  let at = params.first + item;
  let e = params.outer1.extents;
  let inner = split(at, e);
  let outer = split(at / e.x / e.y / e.z / e.w, params.outer0.extents);
  let a_base = dot(outer, params.outer0.a) + dot(inner, params.outer1.a);
  let b_base = dot(outer, params.outer0.b) + dot(inner, params.outer1.b);
  let s = params.summed;
  var sum = 0.0;
  for (var i = 0u; i < s.extents.x; i++) {
    for (var j = 0u; j < s.extents.y; j++) {
      for (var k = 0u; k < s.extents.z; k++) {
        for (var l = 0u; l < s.extents.w; l++) {
          let step = vec4<u32>(i, j, k, l);
          sum = fma(f32(a[a_base + dot(step, s.a)]), f32(b[b_base + dot(step, s.b)]), sum);
        }
      }
    }
  }
  y[at] = Element(activate_{{ activation }}(sum, params.act_alpha, params.act_beta));
}
