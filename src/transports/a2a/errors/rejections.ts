import { A2A_LEGACY_VERSION, A2A_VERSION } from '../../../../agent-card/protocols.ts';
import { OracleError, type OracleErrorOptions } from '../../../platform/errors.ts';

/** Refusals that the protocol has names of its own for. */
export type RejectionName =
  | 'TaskNotFoundError'
  | 'TaskNotCancelableError'
  | 'UnsupportedOperationError'
  | 'PushNotificationNotSupportedError'
  | 'VersionNotSupportedError'
  | 'ExtendedAgentCardNotConfiguredError'
  | 'ExtensionSupportRequiredError';

/** An error of ours that the protocol tells under another name than its code would get. */
export class ProtocolRejection extends OracleError {
  readonly protocolName: RejectionName;

  constructor(toldAs: RejectionName, error: { code: OracleError['code']; message: string } & OracleErrorOptions) {
    const { code, message, ...options } = error;
    super(code, message, options);
    this.protocolName = toldAs;
  }
}

/** For a task that is not there as for one that is somebody else's. */
export function taskNotFound(): OracleError {
  return new OracleError('NOT_FOUND', 'There is no such task of yours', {
    field: 'id',
    suggestedAction: 'Ask with the token, or from the address, that the task was sent with; ListTasks of A2A 1.0 lists yours.',
  });
}

/** Of a task that is the caller's. */
export function callbackNotFound(): OracleError {
  return new OracleError('NOT_FOUND', 'There is no such callback of this task', {
    field: 'id',
    suggestedAction: 'ListTaskPushNotificationConfigs lists those that it has.',
  });
}

export function taskNotCancelable(state: string): OracleError {
  return new ProtocolRejection('TaskNotCancelableError', {
    code: 'CONFLICT',
    message: `The task is over: ${state}`,
    field: 'id',
    suggestedAction: 'Nothing is left to cancel: read the task as it is.',
  });
}

export function taskEnded(state: string): OracleError {
  return new ProtocolRejection('UnsupportedOperationError', {
    code: 'CONFLICT',
    message: `The task is over: ${state}`,
    field: 'message.taskId',
    suggestedAction: 'Send the message without a taskId: it opens a task of its own, in the same contextId if you like.',
  });
}

/** Nothing more comes of it. */
export function nothingToFollow(state: string): OracleError {
  return new ProtocolRejection('UnsupportedOperationError', {
    code: 'CONFLICT',
    message: `The task is over: ${state}`,
    field: 'id',
    suggestedAction: 'Read the task as it is: no events come any more.',
  });
}

export function taskBusy(): OracleError {
  return new ProtocolRejection('UnsupportedOperationError', {
    code: 'CONFLICT',
    message: 'The task does not wait for a message: it is being worked on',
    field: 'message.taskId',
    suggestedAction: 'Wait until it has ended, or open a task of its own.',
  });
}

export function otherContext(): OracleError {
  return new OracleError('INPUT_INVALID', 'The task is of another context', {
    field: 'message.contextId',
    suggestedAction: 'Leave contextId out, or send the one of the task.',
  });
}

export function noExtendedCard(): OracleError {
  return new ProtocolRejection('UnsupportedOperationError', {
    code: 'CONFLICT',
    message: 'There is no extended agent card',
    suggestedAction: 'Read the public one at /.well-known/agent-card.json: it is the same for everybody.',
  });
}

export function unknownVersion(): OracleError {
  return new ProtocolRejection('VersionNotSupportedError', {
    code: 'INPUT_INVALID',
    message: 'This version of the protocol is not served',
    field: 'A2A-Version',
    suggestedAction: `Send A2A-Version: ${A2A_VERSION} or ${A2A_LEGACY_VERSION}.`,
  });
}
