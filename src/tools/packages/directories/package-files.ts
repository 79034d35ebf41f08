import { PUBLICATION } from '../../../../agent-card/identity.ts';
import packageJson from '../../../../package.json' with { type: 'json' };
import { buildRegistryEntry } from './registry-entry.ts';
import { renderSmitheryFile } from './smithery.ts';

/** Files by which directories of MCP servers find the project, by path. */
export function buildPackageFiles(): Record<string, string> {
  return {
    'server.json': toJson(buildRegistryEntry(packageJson)),
    'smithery.yaml': renderSmitheryFile(),
    // https://glama.ai/mcp/schemas/server.json
    'glama.json': toJson({ $schema: 'https://glama.ai/mcp/schemas/server.json', maintainers: PUBLICATION.maintainers }),
  };
}

const toJson = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`;
