-- The style sheet of a flame graph, but for the colours of frames.

return [[
svg { font: 12px system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; background: #fff }
text { fill: #1c1e24 }
.paper { fill: #fff }
.title { font-size: 17px; font-weight: 600 }
.about, .legend text, .status text { fill: #5d6270 }
.name { font-weight: 600 }
.status .name { fill: #1c1e24 }
.rule { fill: #dfe1e7 }
#frames text { pointer-events: none }
#frames rect { cursor: pointer; outline: none }
#frames .above { opacity: 0.55 }
#frames.searching rect { opacity: 0.42 }
#frames.searching rect.hit { opacity: 1 }
rect.hit { fill: #cf2278 }
text.hit { fill: #fff }
#ring { fill: none; stroke: #1c1e24; stroke-width: 1.5; pointer-events: none }
#ring.keyboard { stroke: #1f6feb; stroke-width: 2.5 }
.tools { display: flex; gap: 6px; justify-content: flex-end; margin: 0; padding: 2px }
.tools input, .tools button { font: inherit; color: #1c1e24; background: #f5f6f8; border: 1px solid #c9ccd6;
  border-radius: 6px; padding: 3px 8px; margin: 0 }
.tools input { width: 100%; min-width: 60px; max-width: 240px; box-sizing: border-box }
.tools input.wrong { border-color: #cf2278 }
.tools button { cursor: pointer; white-space: nowrap }
.tools button:disabled { opacity: 0.45; cursor: default }
.tools :focus-visible { outline: 2px solid #1f6feb; outline-offset: 0 }
@media (prefers-color-scheme: dark) {
  svg { background: #15171c }
  text, .status .name { fill: #eef0f4 }
  .paper { fill: #15171c }
  .about, .legend text, .status text { fill: #a3a9b8 }
  .rule { fill: #2e323c }
  #ring { stroke: #fff }
  #ring.keyboard { stroke: #79b8ff }
  rect.hit { fill: #e8408f }
  .tools input, .tools button { color: #eef0f4; background: #22252d; border-color: #444a58 }
}
@media print { .tools, .status { display: none } }
]]
