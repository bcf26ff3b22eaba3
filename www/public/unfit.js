// Says why the page cannot run here, in words that any browser understands: no module is needed for it.
(function () {
  var missing = [];
  if (!("noModule" in document.createElement("script"))) missing.push("JavaScript modules");
  if (typeof WebAssembly !== "object") missing.push("WebAssembly");
  if (typeof DecompressionStream !== "function") missing.push("decompression");
  if (typeof Array.prototype["with"] !== "function") missing.push("ES2023");
  if (!window.CSS || !CSS.supports("color", "light-dark(red, red)")) missing.push("colours for light and dark");
  var reason = "";
  if (location.protocol === "file:") {
    reason =
      "The playground has to be served, by any web server: browsers run no modules from files. Try: npx adk-metrics playground";
  } else if (missing.length > 0) {
    reason =
      "This browser is too old for the playground, it lacks: " +
      missing.join(", ") +
      ". Chrome and Edge have all of it from version 123, Firefox from 120, Safari from 17.5.";
  }
  if (reason === "") return;
  var note = document.getElementById("unfit");
  note.textContent = reason;
  note.hidden = false;
})();
