// Before the first paint, so that the page never flashes in the wrong colours.
(function () {
  "use strict";
  try {
    const chosen = localStorage.getItem("holdfast.theme");
    if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
  } catch {
    // No storage: the system's choice is as good.
  }
})();
