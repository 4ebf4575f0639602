/**
 * Debian's Chromium and Firefox. CHROMIUM and FIREFOX, or build/env.json, say where they are.
 */
import { defineConfig } from '@playwright/test';
import fs from 'node:fs';
import { fileURLToPath } from 'node:url';

const envFile = fileURLToPath(new URL('../../build/env.json', import.meta.url));
const env = fs.existsSync(envFile) ? JSON.parse(fs.readFileSync(envFile, 'utf8')) : {};
const chromium = process.env.CHROMIUM ?? env.chromium ?? '/usr/bin/chromium';
const firefox = process.env.FIREFOX ?? env.firefox ?? '/usr/bin/firefox-esr';
for (const [browser, file] of Object.entries({ chromium, firefox })) {
  if (!fs.existsSync(file)) throw new Error(`No ${browser} at ${file}: run \`node scripts/setup.mjs\`, or set ${browser.toUpperCase()}.`);
}

export default defineConfig({
  testDir: '.',
  testMatch: '*.spec.mjs',
  outputDir: '../../build/playwright',
  workers: 1,
  forbidOnly: true,
  reporter: 'list',
  timeout: 300_000,
  projects: [
    {
      name: 'chromium',
      use: {
        browserName: 'chromium',
        launchOptions: {
          executablePath: chromium,
          // Nothing that talks to other machines, and no sandbox: containers run this as root.
          args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
        },
      },
    },
    { name: 'firefox', use: { browserName: 'firefox', channel: 'moz-firefox', launchOptions: { executablePath: firefox } } },
  ],
});
