import { bind } from "../../kernel/binding.ts";
import { presentSession } from "../identity/service.ts";
import { exportAudit as exportAuditRecord } from "./audit-export.ts";
import { getOrganizationSettings, getPreferences, updatePreferences } from "./contract.ts";
import { exportAudit } from "./export-contract.ts";
import { createOrganization, listAdminAudit, switchOrganization, updateOrganization } from "./people-contract.ts";
import { peopleBindings } from "./people-routes.ts";
import * as service from "./service.ts";

export const bindings = [
  bind(getOrganizationSettings)({
    async handle(deps, { caller }) {
      return { status: 200, body: await service.settings(deps, caller.organization) };
    },
  }),
  bind(updateOrganization)({
    async handle(deps, { caller, body, request }) {
      return { status: 200, body: await service.changeOrganization(deps, caller, body, request.ip) };
    },
  }),
  bind(switchOrganization)({
    async handle(deps, { caller, body }) {
      await service.switchOrganization(deps, caller, body.organization);
      return { status: 200, body: await presentSession(deps.db.read, deps, caller.session) };
    },
  }),
  bind(createOrganization)({
    async handle(deps, { caller, body, request }) {
      await service.createOrganization(deps, caller, body, request.ip);
      return { status: 201, body: await presentSession(deps.db.read, deps, caller.session) };
    },
  }),
  bind(getPreferences)({
    async handle(deps, { caller }) {
      return { status: 200, body: await service.preferences(deps, caller.user) };
    },
  }),
  bind(updatePreferences)({
    async handle(deps, { caller, body }) {
      const changed = await service.changePreferences(deps, caller.user, body.startingOrganization);
      return { status: 200, body: changed };
    },
  }),
  bind(listAdminAudit)({
    async handle(deps, { caller, query }) {
      return { status: 200, body: await service.adminAudit(deps, caller.organization, query) };
    },
  }),
  bind(exportAudit)({
    async handle(deps, { caller, query }) {
      return { status: 200, ...(await exportAuditRecord(deps, caller, query)) };
    },
  }),
  ...peopleBindings,
];
