// The README's pictures: node pictures.mjs FOLDER. scripts/page.sh --pictures runs it.

import { pathToFileURL } from "node:url";
import { join } from "node:path";
import { launch } from "./browser.mjs";

const folder = process.argv[2];
const browser = await launch();
for (const colorScheme of ["light", "dark"]) {
  const page = await browser.newPage({ colorScheme, reducedMotion: "reduce", viewport: { width: 1180, height: 860 } });
  await page.goto(pathToFileURL(process.env.PAGE).href);
  await page.click("#find");
  await page.waitForFunction(() => document.getElementById("verdict").textContent.includes("never"));
  await page.mouse.move(0, 0);
  // What one comes for: the shape, the bits and a key.
  const [top, bottom] = await page.evaluate(() =>
    [".shape", ".bench"].map((name) => document.querySelector(name).getBoundingClientRect()).map((box, i) => scrollY + (i ? box.bottom : box.top)));
  const clip = { x: 0, y: top - 22, width: 1180, height: bottom - top + 30 };
  await page.screenshot({ path: join(folder, `page-${colorScheme}.png`), clip, fullPage: true });
}
const report = await browser.newPage({ reducedMotion: "reduce", viewport: { width: 1180, height: 920 } });
await report.goto(pathToFileURL(process.env.REPORT).href);
await report.screenshot({ path: join(folder, "report.png") });
await browser.close();
