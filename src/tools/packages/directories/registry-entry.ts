import { MCP_REGISTRY_SCHEMA, SERVER_COPY } from '../../../../agent-card/documents/mcp-server-file.ts';
import { PUBLICATION } from '../../../../agent-card/identity.ts';
import { INTERFACES } from '../../../../agent-card/interfaces.ts';
import { PACKAGE_SETTINGS } from '../package-settings.ts';

/**
 * Entry of the project in the MCP registry (`server.json`, schema 2025-12-11): the package, which reaches any service, and the endpoint of
 * a service that the user names. A service on the internet serves an entry of its own.
 */
export function buildRegistryEntry({ version }: { version: string }) {
  return {
    $schema: MCP_REGISTRY_SCHEMA,
    name: PUBLICATION.mcpName,
    ...SERVER_COPY,
    version,
    packages: [
      {
        registryType: 'npm',
        identifier: PUBLICATION.npmName,
        version,
        runtimeHint: 'npx',
        transport: { type: 'stdio' },
        packageArguments: [{ type: 'positional', value: 'mcp' }],
        environmentVariables: PACKAGE_SETTINGS.map(({ variable, description, isSecret, default: fallback }) => ({
          name: variable,
          description,
          isRequired: false,
          isSecret,
          ...(fallback === '' ? {} : { default: fallback }),
        })),
      },
    ],
    remotes: [
      {
        type: 'streamable-http',
        url: `https://{host}${INTERFACES.mcp.endpoints[0]}`,
        variables: { host: { description: 'Host name of a running service', isRequired: true, placeholder: 'oracle.example.org' } },
        headers: [
          {
            name: 'Authorization',
            description: '"Bearer " and an API key or access token of the service; only gated tools ask for it',
            isRequired: false,
            isSecret: true,
          },
        ],
      },
    ],
  };
}
