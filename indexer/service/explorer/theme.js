// Before the first paint, so that nothing flashes: the reader's choice of colours, if there is one.
(function () {
  "use strict";
  try {
    var choice = localStorage.getItem("zx1.theme");
    if (choice === "light" || choice === "dark") document.documentElement.dataset.theme = choice;
  } catch (_) {
    // No storage: the system's colours.
  }
})();
