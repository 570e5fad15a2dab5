// Starts Chromium so that it asks for nothing but the page.

import { createRequire } from "node:module";

const require = createRequire(`${process.env.MODULES}/`);
const { chromium } = require("playwright-core");

export const axe = require("axe-core").source;

const options = {
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update"],
};

export const launch = () => chromium.launch(options);

// With what it writes in this folder.
export const launchProfile = (folder) => chromium.launchPersistentContext(folder, options);
