// Convolution or its transpose as tiled matrix products, one for each group and phase.
// Bindings: 0 params; 1 x (N, C, D, H, W); 2 weights, packed as engine/ops/conv_tiled.py says;
// 3 bias (M); 4 phases; 5 terms; 6 y (N, M, D, H, W).
// Grid: x tiles of bn output positions of a phase (all batches), y tiles of bm output channels,
// z phase * groups + group, from params.first on; an invocation owns tm x tn of a tile.
// A transposed convolution with stride s is, for each remainder of the output position modulo s (a
// phase), a convolution of stride 1 with its own taps. An ordinary convolution is one phase.
// Loads outside of a tensor read its element 0 and count as zero: safe without bounds checks.
alias Element = {{ element }};
alias Index = {{ index }};

{% include 'lib/math.wgsl' %}
{% include 'lib/activation.wgsl' %}

struct Params {
  first: vec4<u32>,            // first tile along x, y, z
  input: vec4<Index>,          // D, H, W and elements of a channel
  output: vec4<Index>,
  source_stride: vec4<Index>,  // input positions from one position of a phase to the next
  place_stride: vec4<Index>,   // output positions from one position of a phase to the next
  groups: Index,
  group_inputs: Index,
  group_outputs: Index,
  unused0: u32,
  alpha: f32,
  beta: f32,
  unused1: u32,
  unused2: u32,
}

struct Phase {
  counts: vec4<Index>,  // positions along D, H, W, and N times their product
  source: vec4<Index>,  // input position of the first tap at position 0; w: first weight vector
  place: vec4<Index>,   // output position of position 0
  depth: Index,         // terms of a sum, rounded up to a multiple of bk
  first_term: Index,    // in terms
  unused0: Index,
  unused1: Index,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<Element>;
@group(0) @binding(2) var<storage, read> weights: array<vec4<Element>>;
@group(0) @binding(3) var<storage, read> bias: array<Element>;
@group(0) @binding(4) var<storage, read> phases: array<Phase>;
// Per term of a sum (an input channel and a tap): how far its input lies from the first tap's along
// D, H, W, and in elements. Terms that only fill up the last slice lie outside of every input.
@group(0) @binding(5) var<storage, read> terms: array<vec4<Index>>;
@group(0) @binding(6) var<storage, read_write> y: array<Element>;

var<workgroup> tile_a: array<vec4<f32>, {{ bk * (bm // 4 + 1) }}>;
var<workgroup> tile_b: array<vec4<f32>, {{ bk * (bn // 4) }}>;

// The batch and the position along D, H, W of a phase's linear position.
fn position(at: Index, counts: vec4<Index>) -> vec4<Index> {
  let row = at / counts.z;
  let plane = row / counts.y;
  return vec4<Index>(plane % counts.x, row % counts.y, at % counts.z, plane / counts.x);
}

// Where the first output channel of a group is stored at a phase's linear position.
fn place_of(at: Index, phase: Phase, part: Index) -> Index {
  let q = position(at, phase.counts);
  let o = phase.place.xyz + q.xyz * params.place_stride.xyz;
  let channel = (q.w * params.groups + part) * params.group_outputs;
  return channel * params.output.w + (o.x * params.output.y + o.y) * params.output.z + o.z;
}

fn store(place: Index, wanted: bool, m: Index, part: Index, sum: f32) {
  if (wanted && m < params.group_outputs) {
    let biased = sum + f32(bias[part * params.group_outputs + m]);
    let value = activate_{{ activation }}(biased, params.alpha, params.beta);
    y[place + m * params.output.w] = Element(value);
  }
}

@compute @workgroup_size({{ threads }})
fn main(
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(local_invocation_index) local: u32,
) {
  let tile = vec3<Index>(group + params.first.xyz);
  let part = tile.z % params.groups;
  let phase = phases[tile.z / params.groups];
  let m0 = tile.y * {{ bm }};
  let at0 = tile.x * {{ bn }};
  let vectors = (params.group_outputs + 3) / 4;

  // The output position whose inputs this invocation loads; outside of the phase all are outside.
  let column = Index(local % {{ bn }}u);
  let on_phase = at0 + column < phase.counts.w;
  let q = position(select(0, at0 + column, on_phase), phase.counts);
  let nearest = phase.source.xyz + q.xyz * params.source_stride.xyz;
  let source = select(vec3<Index>(-0x40000000), nearest, on_phase);
  let x_base = (q.w * params.groups + part) * params.group_inputs * params.input.w
    + (nearest.x * params.input.y + nearest.y) * params.input.z + nearest.z;
{% include 'lib/tile_sums.wgsl' %}
  let weight_base = phase.source.w + part * phase.depth * vectors;
  for (var k0 = 0; k0 < phase.depth; k0 += {{ bk }}) {
{% for u in range(bk * bm // 4 // threads) %}
    {
      let unit = Index(local) + {{ u * threads }};
      let k = unit / {{ bm // 4 }};
      let row = unit % {{ bm // 4 }};
      let m4 = m0 / 4 + row;
      let at = select(0, weight_base + (k0 + k) * vectors + m4, m4 < vectors);
      tile_a[k * {{ bm // 4 + 1 }} + row] = vec4<f32>(weights[at]);
    }
{% endfor %}
{% for u in range(bk * bn // threads) %}
    {
      let k = Index(local / {{ bn }}u) + {{ u * (threads // bn) }};
      let term = terms[phase.first_term + k0 + k];
      let inside = all(vec3<u32>(source + term.xyz) < vec3<u32>(params.input.xyz));
      let at = select(0, x_base + term.w, inside);
      tile_b[k * {{ bn // 4 }} + column / 4][column % 4] = select(0.0, f32(x[at]), inside);
    }
{% endfor %}
    workgroupBarrier();
{% include 'lib/tile_product.wgsl' %}
    workgroupBarrier();
  }
{% for j in range(tn // 4) %}
  {
    let at = at0 + Index(lx + {{ j * (bn // tn) }}u) * 4;
{% for e in range(4) %}
    let wanted{{ e }} = at + {{ e }} < phase.counts.w;
    let place{{ e }} = place_of(select(0, at + {{ e }}, wanted{{ e }}), phase, part);
{% endfor %}
{% for i in range(tm) %}
    {
      let m = m0 + Index(ly + {{ i // 4 * (bm // tm) }}u) * 4 + {{ i % 4 }};
{% for e in range(4) %}
      store(place{{ e }}, wanted{{ e }}, m, part, c{{ i }}_{{ j }}.{{ "xyzw"[e] }});
{% endfor %}
    }
{% endfor %}
  }
{% endfor %}
}
