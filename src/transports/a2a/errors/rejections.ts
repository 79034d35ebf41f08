import { A2A_LEGACY_VERSION, A2A_VERSION } from '../../../../agent-card/protocols.ts';
import { OracleError } from '../../../platform/errors.ts';

/** Error names of the protocol. */
export type RejectionName = 'TaskNotCancelableError' | 'UnsupportedOperationError' | 'VersionNotSupportedError';

/** An error that the protocol sends under another name than its code would get. */
export class ProtocolRejection extends OracleError {
  readonly protocolName: RejectionName;

  constructor(protocolName: RejectionName, message: string, options: { field?: string; suggestedAction: string }) {
    super(protocolName === 'VersionNotSupportedError' ? 'INPUT_INVALID' : 'CONFLICT', message, options);
    this.protocolName = protocolName;
  }
}

/** The same for a missing task and for a task of another owner, so that ids cannot be probed. */
export function taskNotFound(): OracleError {
  return new OracleError('NOT_FOUND', 'There is no such task of yours', {
    field: 'id',
    suggestedAction: 'Ask with the token, or from the address, that the task was sent with; ListTasks of A2A 1.0 lists yours.',
  });
}

export function callbackNotFound(): OracleError {
  const suggestedAction = 'ListTaskPushNotificationConfigs lists those that it has.';
  return new OracleError('NOT_FOUND', 'There is no such callback of this task', { field: 'id', suggestedAction });
}

export function taskNotCancelable(state: string): OracleError {
  const suggestedAction = 'Nothing is left to cancel: read the task as it is.';
  return new ProtocolRejection('TaskNotCancelableError', `The task is over: ${state}`, { field: 'id', suggestedAction });
}

export function taskEnded(state: string): OracleError {
  const suggestedAction = 'Send the message without a taskId: it opens a task of its own, in the same contextId if you like.';
  return new ProtocolRejection('UnsupportedOperationError', `The task is over: ${state}`, { field: 'message.taskId', suggestedAction });
}

export function nothingToFollow(state: string): OracleError {
  const suggestedAction = 'Read the task as it is: no events come any more.';
  return new ProtocolRejection('UnsupportedOperationError', `The task is over: ${state}`, { field: 'id', suggestedAction });
}

export function taskBusy(): OracleError {
  const message = 'The task does not wait for a message: it is being worked on';
  const suggestedAction = 'Wait until it has ended, or open a task of its own.';
  return new ProtocolRejection('UnsupportedOperationError', message, { field: 'message.taskId', suggestedAction });
}

export function otherContext(): OracleError {
  const suggestedAction = 'Leave contextId out, or send the one of the task.';
  return new OracleError('INPUT_INVALID', 'The task is of another context', { field: 'message.contextId', suggestedAction });
}

export function noExtendedCard(): OracleError {
  const suggestedAction = 'Read the public one at /.well-known/agent-card.json: it is the same for everybody.';
  return new ProtocolRejection('UnsupportedOperationError', 'There is no extended agent card', { suggestedAction });
}

export function unknownVersion(): OracleError {
  const suggestedAction = `Send A2A-Version: ${A2A_VERSION} or ${A2A_LEGACY_VERSION}.`;
  const message = 'This version of the protocol is not served';
  return new ProtocolRejection('VersionNotSupportedError', message, { field: 'A2A-Version', suggestedAction });
}
