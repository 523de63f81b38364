import { bind } from "../../kernel/binding.ts";
import { presentSession, sessionCookie } from "../identity/service.ts";
import { createFirstOwner } from "./contract.ts";
import * as firstOwner from "./first-owner.ts";

export const firstOwnerBindings = [
  bind(createFirstOwner)({
    async handle(deps, { body, request }) {
      const { id, secret } = await firstOwner.createFirstOwner(deps, body, request);
      const session = await presentSession(deps.db.read, deps, id);
      return { status: 201, body: session, headers: { "set-cookie": sessionCookie(secret) } };
    },
  }),
];
