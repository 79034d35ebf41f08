import { AUDIT_OPTIONS, type AuditCommand, EXIT_CODES_TEXT, openAuditByAddress, runAudit } from '../audit-options.ts';
import { type ServiceValues, URL_OPTION } from '../command.ts';
import { type CliContext, EXIT, type SvcCommand } from '../context.ts';
import { printError } from '../errors.ts';

type AuditValues = AuditCommand & Pick<ServiceValues, 'url'>;

/** The same as `npm run audit`. */
export const auditCommand: SvcCommand<AuditValues> = {
  example: 'svc audit --prices live',
  description: `Nothing that the service claims is trusted. Without --rpc: the service of this folder, against its chain and the prices that its record is made from.`,
  options: [...AUDIT_OPTIONS, [URL_OPTION[0], 'the same as --service', URL_OPTION[2]]],
  footer: EXIT_CODES_TEXT,
  run: (context, values) =>
    runAudit(
      nameService(values, context),
      (command) =>
        command.rpc === undefined && context.openAudit !== undefined
          ? context.openAudit(command)
          : openAuditByAddress(command, context.now()),
      context,
    ).catch((error: unknown) => {
      printError(error, context, ({ suggestedAction }) => suggestedAction);
      // 1 means that something differs.
      return EXIT.misused;
    }),
};

/** Accepts `--url` like the other commands, and SERVICE_URL unless a chain is named. */
function nameService({ url, ...command }: AuditValues, { environment: { SERVICE_URL: named = '' } }: CliContext): AuditCommand {
  const service = command.service ?? url;
  if (service !== undefined) return { ...command, service };
  return named === '' || command.rpc !== undefined ? command : { ...command, service: named };
}
