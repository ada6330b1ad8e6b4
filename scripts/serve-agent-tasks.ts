/** Serves the commands of `npm run try-agent`: the tasks, tools of a proxy in front of a sandbox, and the report. */
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { type Sandbox, startSandbox } from '@erp-proxy/sandbox';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { type Proxy as ErpProxy, startProxy } from '../packages/server/test/harness.ts';

export interface TaskOptions {
  port: number;
  /** The version that the sandbox simulates. */
  version: NonNullable<NonNullable<Parameters<typeof startSandbox>[0]>['version']>;
  /** A JSON file with a list of texts; null: the office tasks of the tests. */
  tasksFile: string | null;
  /** The file that gets all calls and answers as JSON. */
  reportFile: string;
}

interface Call {
  tool: string;
  arguments: unknown;
  isError: boolean;
  text: string;
}

interface Task {
  task: string;
  calls: Call[];
  answer: string | null;
}

interface OfficeTasks {
  /** Records that the tasks need in addition to those of the sandbox: model and values. */
  setup: [string, object][];
  tasks: { task: string }[];
}

/** Time before the process ends, so that the last answer is sent. */
const EXIT_MS = 200;
const OFFICE_TASKS = new URL('../packages/server/test/data/office-tasks.json', import.meta.url);

export async function serveTasks({ port, version, tasksFile, reportFile }: TaskOptions): Promise<void> {
  const { setup, tasks: officeTasks }: OfficeTasks = JSON.parse(readFileSync(OFFICE_TASKS, 'utf8'));
  const tasks: string[] =
    tasksFile === null ? officeTasks.map(({ task }) => task) : JSON.parse(readFileSync(tasksFile, 'utf8'));
  const sandbox = await startSandbox({ version });
  const proxy = await startProxy({
    settings: {
      'vault.masterKey': Buffer.alloc(32, 7).toString('base64'),
      'upstream.protocol': 'auto',
    },
  });
  await storeInstance(proxy, sandbox);
  /** Each task begins with the same records. */
  const reset = async () => {
    sandbox.reset();
    await createRecords(proxy, setup);
  };
  const questions: string[] = [];
  const trial = new Trial({ tasks, reportFile, questions, client: await connect(proxy, questions), reset });
  await trial.begin();
  createServer(async (request, response) => {
    try {
      const words = JSON.parse(await text(request));
      response.end(await trial.run(request.url?.slice(1) ?? '', words));
    } catch (error) {
      response.end(`Error: ${(error as Error).message}`);
    }
  }).listen(port, '127.0.0.1', () => console.log(`${tasks.length} tasks on port ${port}`));
}

interface TrialParts {
  tasks: readonly string[];
  reportFile: string;
  client: Client;
  /** Questions to the person since the last call. */
  questions: string[];
  reset(): Promise<void>;
}

/** Runs the tasks, one after the other, and writes the report about them. */
class Trial {
  readonly #parts: TrialParts;
  readonly #report: Task[] = [];

  constructor(parts: TrialParts) {
    this.#parts = parts;
  }

  /** Begins the next task. */
  async begin(): Promise<void> {
    await this.#parts.reset();
    this.#report.push({ task: this.#parts.tasks[this.#report.length] ?? '', calls: [], answer: null });
  }

  run(command: string, [first = '', second = '{}']: string[]): Promise<string> | string {
    switch (command) {
      case 'tools':
        return this.#printTools();
      case 'task':
        return this.#printTask();
      case 'call':
        return this.#call(first, JSON.parse(second));
      case 'done':
        return this.#end(first);
      default:
        return 'There is no such command.';
    }
  }

  async #printTools(): Promise<string> {
    const { client } = this.#parts;
    const { tools } = await client.listTools();
    return `${client.getInstructions() ?? ''}\n\n${JSON.stringify(tools, null, 1)}`;
  }

  #printTask(): string {
    return `Task ${this.#report.length} of ${this.#parts.tasks.length}: ${this.#current.task}`;
  }

  async #call(tool: string, args: Record<string, unknown>): Promise<string> {
    const { client, questions } = this.#parts;
    const result = await client.callTool({ name: tool, arguments: args });
    const [content] = result.content as { text: string }[];
    const call = { tool, arguments: args, isError: result.isError === true, text: content?.text ?? '' };
    this.#current.calls.push(call);
    const asked = questions.splice(0).map((question) => `The user was asked: ${question} Answer: yes.\n`);
    return `${asked.join('')}${call.isError ? 'isError: ' : ''}${call.text}`;
  }

  /** Ends the current task, and the process after the last one. */
  async #end(answer: string): Promise<string> {
    this.#current.answer = answer;
    writeFileSync(this.#parts.reportFile, JSON.stringify(this.#report, null, 1));
    if (this.#report.length === this.#parts.tasks.length) {
      console.log(summarize(this.#report));
      setTimeout(() => process.exit(), EXIT_MS);
      return 'That was the last task.';
    }
    await this.begin();
    return this.#printTask();
  }

  get #current(): Task {
    return this.#report.at(-1)!;
  }
}

async function createRecords(proxy: ErpProxy, records: OfficeTasks['setup']): Promise<void> {
  const calls = records.map(([model, values]) => ({
    action: 'create',
    model_id: model,
    params: [values],
    erp_instance: { name: 'prod' },
  }));
  await proxy.call(calls);
}

async function storeInstance({ app }: ErpProxy, { url, db, users }: Sandbox): Promise<void> {
  const { userId: user_id, apiKey: api_key } = users.admin;
  await app.instances.add({ name: 'prod', url, db, user_id, api_key, allow_private: true });
}

/** Connects a client whose person agrees to everything. The texts that the person is asked are added to `questions`. */
async function connect({ url, key }: ErpProxy, questions: string[]): Promise<Client> {
  const client = new Client(
    { name: 'try-agent', version: '1.0.0' },
    { capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode: { pin: '2026-07-28' } } },
  );
  client.setRequestHandler('elicitation/create', ({ params }) => {
    questions.push(params.message);
    return { action: 'accept', content: { confirm: true } } as never;
  });
  const requestInit = { headers: { 'x-proxy-api': key } };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit }));
  return client;
}

function summarize(report: readonly Task[]): string {
  const calls = report.flatMap((task) => task.calls);
  const failed = report.filter((task) => task.calls.some(({ isError }) => isError));
  const bytes = calls.map(({ text }) => Buffer.byteLength(text)).sort((a, b) => a - b);
  return [
    `${report.length} tasks, ${calls.length} calls, ${failed.length} tasks with a failed call`,
    `answers: median ${bytes[bytes.length >> 1]} bytes, largest ${bytes.at(-1)} bytes`,
    ...failed.flatMap(({ task, calls }) => [
      `- ${task}`,
      ...calls
        .filter(({ isError }) => isError)
        .map(({ tool, text }) => `    ${tool}: ${text.split('\n')[0]}`),
    ]),
  ].join('\n');
}
