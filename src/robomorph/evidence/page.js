"use strict";
// A click on a number shows where it is in the JSON document.
document.addEventListener("click", (event) => {
  const found = event.target.closest("[data-path]");
  document.getElementById("path").textContent = found ? found.dataset.path : "";
});
