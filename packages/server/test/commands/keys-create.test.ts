/** `erp-proxy keys create`: the name of a key. */
import { expect, test } from 'vitest';
import { makeFolder } from '../process/program.ts';
import { runCommand } from './run-command.ts';

const names = async (folder: string) =>
  JSON.parse((await runCommand(['keys', 'list', '--json'], { folder })).stdout).map(
    ({ name }: { name: string }) => name,
  );

test('asks a person for the name, and refuses an empty one; a script gets an unnamed key', async () => {
  const folder = makeFolder();
  await runCommand(['keys', 'create', '--name=first'], { folder });
  const asked: string[] = [];
  const answer = (text: string) => async (question: string) => {
    asked.push(question);
    return text;
  };
  const created = await runCommand(['keys', 'create'], { folder, ask: answer(' shop\n') });
  expect(created).toMatchObject({ status: 0, stdout: expect.stringMatching(/^ep_\S+\n$/) });
  expect(asked).toEqual([expect.stringMatching(/^Name of the key/)]);
  const refusal = { status: 2, stdout: '', stderr: expect.stringMatching(/^Give the key a name: --name </) };
  expect(await runCommand(['keys', 'create'], { folder, ask: answer(' ') })).toMatchObject(refusal);
  expect(await runCommand(['keys', 'create'], { folder })).toMatchObject({ status: 0 });
  expect((await names(folder)).toSorted()).toEqual(['first', 'shop', 'unnamed']);
});
