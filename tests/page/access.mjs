// What can be measured of accessibility: contrast and names.

/** Texts whose contrast to what is behind them is less than 4.5 to 1 (WCAG 1.4.3), but for what is switched off. */
export const contrasts = (page) => page.evaluate(() => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const rgba = (color) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = color;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const light = ([r, g, b]) => {
    const [x, y, z] = [r, g, b].map((one) => one / 255).map((one) => (one <= 0.03928 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4));
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  const behind = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const color = rgba(getComputedStyle(at).backgroundColor);
      if (color[3] === 255) return color;
    }
    return [255, 255, 255];
  };
  const low = [];
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const element = walk.currentNode.parentElement;
    if (!walk.currentNode.data.trim() || !element.checkVisibility() || element.closest(":disabled, script, option")) continue;
    const [a, b] = [light(rgba(getComputedStyle(element).color)), light(behind(element))].sort((a, b) => b - a);
    const ratio = (a + 0.05) / (b + 0.05);
    if (ratio < 4.5) low.push(`${walk.currentNode.data.trim().slice(0, 30)}: ${ratio.toFixed(1)}`);
  }
  return low;
});

/** What can be used and has no name. */
export const unnamed = (page) => page.evaluate(() => {
  const name = (one) => one.getAttribute("aria-label") || (one.getAttribute("aria-labelledby") && document.getElementById(one.getAttribute("aria-labelledby"))?.textContent)
    || [...(one.labels ?? [])].map((label) => label.textContent).join("") || (one.matches("button, a") ? one.textContent : "");
  const all = document.querySelectorAll("button, a[href], input, textarea, select, [role=tablist], [role=radiogroup], [role=listbox], [role=tabpanel]");
  return [...all].filter((one) => !name(one)?.trim()).map((one) => one.outerHTML.slice(0, 80));
});
