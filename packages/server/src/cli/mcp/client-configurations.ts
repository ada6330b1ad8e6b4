/** The configuration that makes well-known MCP clients use a proxy, as text to paste. Data and its rendering. */

/** The proxy that clients use. */
export interface ProxyTarget {
  /** Address of the proxy, without a slash at its end. */
  url: string;
  /** Path of the file with the client key; undefined: the text has a placeholder for the key. */
  keyFile: string | undefined;
}

interface ClientConfiguration {
  /** As given to `--print-config`. */
  name: string;
  /** The file or menu of the client that the text belongs in. */
  place: string;
  render(target: ProxyTarget): string;
}

const KEY_PLACE = '<client key>';
const PACKAGE = 'erp-proxy';

/** In the order of docs/mcp.md. */
export const CLIENT_CONFIGURATIONS: readonly ClientConfiguration[] = [
  {
    name: 'claude-desktop',
    place:
      'claude_desktop_config.json (Settings, Developer, Edit Config): ~/Library/Application Support/Claude/ on macOS, %APPDATA%\\Claude\\ on Windows',
    render: (target) => printJson({ mcpServers: { odoo: describeProgram(target) } }),
  },
  {
    name: 'claude-code',
    place: '.mcp.json in the folder of the project',
    render: ({ url }) =>
      printJson({ mcpServers: { odoo: { type: 'http', url: locate(url), headers: nameKey(KEY_PLACE) } } }),
  },
  {
    name: 'cursor',
    place: '~/.cursor/mcp.json, or .cursor/mcp.json in the folder of the project',
    render: ({ url }) =>
      printJson({ mcpServers: { odoo: { url: locate(url), headers: nameKey(KEY_PLACE) } } }),
  },
  {
    name: 'vscode',
    place: '.vscode/mcp.json in the folder of the project; VS Code asks for the key',
    render: ({ url }) =>
      printJson({
        inputs: [
          {
            type: 'promptString',
            id: 'erp-proxy-key',
            description: 'Client key of erp-proxy',
            password: true,
          },
        ],
        servers: { odoo: { type: 'http', url: locate(url), headers: nameKey(`\${input:erp-proxy-key}`) } },
      }),
  },
  {
    name: 'windsurf',
    place: '~/.codeium/windsurf/mcp_config.json',
    render: ({ url }) =>
      printJson({ mcpServers: { odoo: { serverUrl: locate(url), headers: nameKey(KEY_PLACE) } } }),
  },
  {
    name: 'zed',
    place: 'settings.json of Zed (command palette: open settings)',
    render: (target) => printJson({ context_servers: { odoo: describeProgram(target) } }),
  },
  {
    name: 'gemini-cli',
    place: '~/.gemini/settings.json, or .gemini/settings.json in the folder of the project',
    render: ({ url }) =>
      printJson({ mcpServers: { odoo: { httpUrl: locate(url), headers: nameKey(KEY_PLACE) } } }),
  },
  {
    name: 'codex',
    place: '~/.codex/config.toml; set the variable ERP_PROXY_KEY to the client key before you start Codex',
    render: ({ url }) =>
      `[mcp_servers.odoo]\nurl = ${JSON.stringify(locate(url))}\nbearer_token_env_var = "ERP_PROXY_KEY"\n`,
  },
];

/** The configuration for clients that start a program. */
function describeProgram({ url, keyFile }: ProxyTarget): object {
  const args = ['-y', PACKAGE, 'mcp', '--url', url];
  return keyFile === undefined
    ? { command: 'npx', args, env: { ERP_PROXY_KEY: KEY_PLACE } }
    : { command: 'npx', args: [...args, '--key-file', keyFile] };
}

function locate(url: string): string {
  return `${url}/mcp`;
}

function nameKey(key: string): Record<string, string> {
  return { 'x-proxy-api': key };
}

function printJson(value: object): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
