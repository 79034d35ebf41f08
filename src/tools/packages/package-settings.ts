import { DEFAULT_URL } from '../../cli/svc/service-request.ts';

/** A setting of the stdio MCP server that directories and hosts ask their users for. */
export interface PackageSetting {
  /** Name in files that map settings to variables. */
  key: string;
  /** Environment variable. */
  variable: string;
  title: string;
  description: string;
  isSecret: boolean;
  /** Of the setting when the user enters nothing; empty: none. */
  default: string;
}

/** All of them are optional. */
export const PACKAGE_SETTINGS: readonly PackageSetting[] = [
  {
    key: 'service_url',
    variable: 'ORACLE_URL',
    title: 'Address of the service',
    description: 'A running Bitcoin Signal Oracle, such as https://oracle.example.org',
    isSecret: false,
    default: DEFAULT_URL,
  },
  {
    key: 'api_key',
    variable: 'ORACLE_TOKEN',
    title: 'API key',
    description: 'An API key or access token of the service, for forecasts whose outcome is open; everything else needs none',
    isSecret: true,
    default: '',
  },
  {
    key: 'private_key',
    variable: 'PRIVATE_KEY',
    title: 'Private key of a wallet',
    description: 'Instead of an API key: 0x and 64 hex characters of a wallet with gate tokens. It signs logins, and is never sent',
    isSecret: true,
    default: '',
  },
];
