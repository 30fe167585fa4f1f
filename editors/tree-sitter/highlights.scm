;; extends

; inherits: kdl

; Layout manifests, on top of the colours of KDL. Neovim reads the first line and takes this file as more of `kdl`;
; Helix puts the patterns of `kdl` in the place of the second. What is not said here stays as KDL has it: keys, strings,
; numbers, comments.
;
; Other programs use KDL too. So a word has its colour where it stands in a manifest, and nowhere else: items at the
; top, all others in a node of a name that they stand in.
;
; What is named of the grammar, those of KDL 1 and KDL 2 both have: of fields only `children`. `_` stands for kinds that
; follow from the rest: a pattern that names them all takes tree-sitter minutes to read, with the grammar of KDL 2.

; Items

(document
  (node
    (identifier) @keyword)
  (#any-of? @keyword
    "use" "const" "symbol" "memory-space" "mesh" "transform" "tensor" "view" "convert" "kernel" "instance" "backend" "graph"))

; In tensors, in views and in what is like them

(node
  (identifier) @_in
  children: (_
    (_
      (identifier) @keyword))
  (#any-of? @_in "tensor" "view" "input" "constant" "out" "local" "cache")
  (#any-of? @keyword "shape" "layout" "memory" "nibbles" "shard" "ring" "access" "require" "dtype" "map"))

; Steps

(node
  (identifier) @_in
  children: (_
    (_
      (identifier) @function))
  (#any-of? @_in "layout" "transform")
  (#any-of? @function
    "map" "apply" "order" "split" "fuse" "tile" "pad" "strides" "swizzle" "align" "fill" "padding" "axis-separators"
    "notation"))

; In kernels, instances and schedules

(node
  (identifier) @_in
  children: (_
    (_
      (identifier) @keyword))
  (#any-of? @_in "kernel" "instance" "schedule")
  (#any-of? @keyword
    "operands" "compute" "range" "acc" "accumulate" "local" "loops" "split" "fuse" "tile" "unroll" "vectorize"
    "parallel" "cache" "schedule" "partial-sums" "split-k"))

; In conversions

(node
  (identifier) @_in
  children: (_
    (_
      (identifier) @keyword))
  (#any-of? @_in "convert")
  (#any-of? @keyword "order" "block" "inside" "stores" "fill"))

; In graphs and back ends

(node
  (identifier) @_in
  children: (_
    (_
      (identifier) @keyword))
  (#any-of? @_in "graph" "node" "backend" "op" "others" "accepts")
  (#any-of? @keyword
    "input" "constant" "node" "output" "keep" "forbid" "in" "out" "accepts" "default-layout" "op" "others"))

; Names of items

(document
  (_
    (identifier) @_item
    .
    (_
      (value
        (string) @variable)))
  (#any-of? @_item "tensor" "view" "convert"))

(document
  (_
    (identifier) @_item
    .
    (_
      (value
        (string) @function)))
  (#any-of? @_item "transform" "kernel" "instance" "graph"))

(document
  (_
    (identifier) @_item
    .
    (_
      (value
        (string) @constant)))
  (#any-of? @_item "const" "symbol"))

(document
  (_
    (identifier) @_item
    .
    (_
      (value
        (string) @type)))
  (#any-of? @_item "memory-space" "backend"))

; Names in items

(node
  (identifier) @_in
  children: (_
    (_
      (identifier) @_word
      (_
        (value
          (string) @variable))))
  (#any-of? @_in "kernel" "instance" "graph" "node")
  (#any-of? @_word "operands" "local" "cache" "input" "constant" "node" "output" "keep" "forbid" "in" "out"))

(node
  (identifier) @_in
  children: (_
    (_
      (identifier) @_word
      (_
        (value
          (string) @function))))
  (#any-of? @_in "tensor" "view" "local" "cache" "layout" "transform" "backend")
  (#any-of? @_word "layout" "apply" "op"))

; Axes

(node
  (identifier) @_in
  children: (_
    (_
      (identifier) @variable.parameter))
  (#any-of? @_in "shape"))

(node
  (identifier) @_in
  children: (_
    (_
      (identifier) @_word
      (_
        (value
          (string) @variable.parameter))))
  (#any-of? @_in "layout" "transform" "convert" "kernel" "instance" "schedule")
  (#any-of? @_word
    "order" "split" "fuse" "pad" "align" "axis-separators" "range" "loops" "tile" "unroll" "vectorize" "parallel"
    "partial-sums" "split-k"))

(node
  (identifier) @_in
  children: (_
    (_
      (_
        (value
          (string) @constant))))
  (#any-of? @_in "shape")
  (#match? @constant "^[A-Za-z_]"))

; Element types

(prop
  (identifier) @_key
  (value
    (string) @type.builtin)
  (#any-of? @_key "dtype" "pack-from"))

(node
  (identifier) @_in
  children: (_
    (_
      (identifier) @_word
      (_
        (value
          (string) @type.builtin))))
  (#any-of? @_in "kernel")
  (#any-of? @_word "acc"))

(node
  (identifier) @_in
  children: (_
    (_
      (identifier) @_word
      children: (_
        (_
          (identifier) @variable.parameter
          (_
            (value
              (string) @type.builtin))))))
  (#any-of? @_in "tensor")
  (#any-of? @_word "dtype"))

; Words that are values

(node
  (identifier) @_in
  children: (_
    (_
      (identifier) @_word
      (_
        (value
          (string) @constant.builtin))))
  (#any-of? @_in "tensor" "cache" "layout" "transform" "convert")
  (#any-of? @_word "memory" "nibbles" "require" "padding" "fill" "inside" "stores"))
