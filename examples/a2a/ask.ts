// Agent to agent, by the official client: a task, its stream and a second look at it: npx node examples/a2a/ask.ts
import { randomUUID } from 'node:crypto';
import { type Message, Role, type Task, TaskState } from '@a2a-js/sdk';
import { ClientFactory } from '@a2a-js/sdk/client';
import { service } from '../common/service.ts';

// From the address alone: the agent card says where and in which protocol.
const client = await new ClientFactory().createFromUrl(service);
const card = await client.getAgentCard();
console.log(`${card.name} ${card.version}: ${card.skills.map(({ id }) => id).join(', ')}`);

// A data part names the skill and its input. The answer is a task that has ended.
const answered = await client.sendMessage(request({ data: { skill: 'get_track_record', input: { horizon: '7d' } } }));
const record = answered as Task;
console.log(`\n${stateOf(record)}\n${textOf(record)}`);

// Plain text is matched to a skill. The stream has each state of the task.
console.log('\nAs a stream:');
for await (const { payload } of client.sendMessageStream(request({ text: 'What is the market regime?' }))) {
  if (payload?.$case === 'task') console.log(stateOf(payload.value));
  else if (payload?.$case === 'statusUpdate') console.log(stateOf(payload.value));
  else if (payload?.$case === 'artifactUpdate') console.log(textOf({ artifacts: [payload.value.artifact!] }));
}

// Only the sender can read a stored task.
const kept = await client.getTask({ id: record.id, tenant: '', historyLength: 0 });
console.log(`\nTask ${kept.id} is still there: ${stateOf(kept)}`);

/** A message with a new id: a repeated id returns the first task and runs nothing. */
function request({ text, data }: { text?: string; data?: unknown }) {
  const content = text === undefined ? ({ $case: 'data', value: data } as const) : ({ $case: 'text', value: text } as const);
  const parts = [{ content, metadata: undefined, filename: '', mediaType: '' }];
  const empty = { contextId: '', taskId: '', metadata: undefined, extensions: [], referenceTaskIds: [] };
  const message: Message = { ...empty, messageId: randomUUID(), role: Role.ROLE_USER, parts };
  return { tenant: '', message, configuration: undefined, metadata: undefined };
}

function stateOf({ status }: Pick<Task, 'status'>): string {
  return TaskState[status!.state];
}

/** Answers come as data and as sentences. */
function textOf({ artifacts }: Pick<Task, 'artifacts'>): string {
  return artifacts.flatMap(({ parts }) => parts.map(({ content }) => (content?.$case === 'text' ? content.value : ''))).join('');
}
