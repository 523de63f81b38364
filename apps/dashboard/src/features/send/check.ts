import type { z } from "zod";
import { CreateEnvelope } from "../../../../../server/features/envelopes/contract.ts";
import type { TemplateVersion } from "../../../../../server/features/templates/contract.ts";
import { checkFieldInput, checkVariables } from "../../../../../server/features/templates/values.ts";
import { type ProblemErrorCode, pointer } from "../../../../../server/kernel/problem.ts";
import { prefillable } from "./fields.ts";

/** What is wrong with an envelope before the service is asked, found by the service's own rules. */

export type Request = z.input<typeof CreateEnvelope>;
/** `detail`: a sentence for people where the template's author wrote one. */
export type Finding = { pointer: string; code: ProblemErrorCode; detail: string | null };

export function findingsOf(request: Request, version: TemplateVersion, now: number): Finding[] {
  const parsed = CreateEnvelope.safeParse(request);
  const found = parsed.success ? [] : parsed.error.issues.map(findingOf);
  found.push(...missingRoles(request, version), ...repeated(request, "cc"), ...repeated(request, "viewers"));
  const { expiresAt } = request;
  const ahead = expiresAt === undefined ? null : Date.parse(expiresAt) - now;
  if (ahead !== null && ahead < 3_600_000) found.push({ pointer: "#/expiresAt", code: "min", detail: null });
  if (ahead !== null && ahead > 365 * 86_400_000) found.push({ pointer: "#/expiresAt", code: "max", detail: null });
  const known = new Set(found.map((finding) => finding.pointer));
  const further: Finding[] = [
    ...checkVariables(version.variables, request.variables ?? {}, "#/variables").errors.flatMap((error) =>
      "pointer" in error ? [{ pointer: error.pointer, code: error.code, detail: null }] : [],
    ),
    ...valueFindings(request, version),
  ];
  return [...found, ...further.filter((finding) => !known.has(finding.pointer))];
}

function findingOf(issue: z.core.$ZodIssue): Finding {
  const at = pointer(issue.path.map((part) => (typeof part === "number" ? part : String(part))));
  const finding = (code: ProblemErrorCode): Finding => ({ pointer: at, code, detail: null });
  if (issue.input === "") return finding("required");
  switch (issue.code) {
    case "invalid_type":
      return finding(issue.input === undefined ? "required" : "type");
    case "too_small":
      return finding(issue.origin === "string" && issue.minimum === 1 ? "required" : "min");
    case "too_big":
      return finding("max");
    case "invalid_union":
      return finding("type");
    default:
      return finding("format");
  }
}

function missingRoles({ recipients }: Request, { roles }: TemplateVersion): Finding[] {
  return roles
    .filter(({ name, kind }) => kind === "signer" && !recipients.some(({ role }) => role === name))
    .map(() => ({ pointer: "#/recipients", code: "required", detail: null }));
}

function repeated(request: Request, list: "cc" | "viewers"): Finding[] {
  const addresses = (request[list] ?? []).map(({ email }) => email.toLowerCase());
  return addresses.flatMap((address, index): Finding[] =>
    address !== "" && addresses.indexOf(address) < index
      ? [{ pointer: pointer([list, index, "email"]), code: "duplicate", detail: null }]
      : [],
  );
}

function valueFindings({ values }: Request, version: TemplateVersion): Finding[] {
  return Object.entries(values ?? {}).flatMap(([role, given]) => {
    const fields = prefillable(version, role);
    return Object.entries(given).flatMap(([id, value]): Finding[] => {
      const at = pointer(["values", role, id]);
      const field = fields.find((one) => one.id === id);
      if (field === undefined) return [{ pointer: at, code: "reference", detail: null }];
      return checkFieldInput(field, value, at).map(({ code, detail }) => ({
        pointer: at,
        code,
        detail: code === "pattern" && "patternMessage" in field && field.patternMessage ? detail : null,
      }));
    });
  });
}
