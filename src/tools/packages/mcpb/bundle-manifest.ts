import { IDENTITY } from '../../../../agent-card/identity.ts';
import { SKILLS } from '../../../../skills/index.ts';
import { PACKAGE_SETTINGS } from '../package-settings.ts';

export const BUNDLE_ENTRY = 'server/index.mjs';
export const BUNDLE_ICON = 'icon.png';
/** Hosts start a bundle with the Node that they bring. */
export const BUNDLE_MIN_NODE = '20.12';

/** `manifest.json` of the MCP bundle (MCPB 0.4). A field without a default would reach the program as its placeholder. */
export function buildBundleManifest({ version, license }: { version: string; license: string }) {
  return {
    manifest_version: '0.4',
    name: IDENTITY.slug,
    display_name: IDENTITY.name,
    version,
    description: IDENTITY.tagline,
    long_description: `${IDENTITY.description}\n\nThe bundle connects to a service that runs on this machine or elsewhere. It contains no service.`,
    author: { name: `${IDENTITY.name} maintainers` },
    icon: BUNDLE_ICON,
    server: {
      type: 'node',
      entry_point: BUNDLE_ENTRY,
      mcp_config: {
        command: 'node',
        args: [`\${__dirname}/${BUNDLE_ENTRY}`],
        env: Object.fromEntries(PACKAGE_SETTINGS.map(({ key, variable }) => [variable, `\${user_config.${key}}`])),
      },
    },
    tools: SKILLS.map(({ id, summary }) => ({ name: id, description: summary })),
    prompts_generated: true,
    keywords: [...IDENTITY.topics],
    license,
    compatibility: { platforms: ['darwin', 'win32', 'linux'], runtimes: { node: `>=${BUNDLE_MIN_NODE}` } },
    user_config: Object.fromEntries(
      PACKAGE_SETTINGS.map(({ key, title, description, isSecret, default: fallback }) => [
        key,
        { type: 'string', title, description, required: false, sensitive: isSecret, default: fallback },
      ]),
    ),
  };
}
