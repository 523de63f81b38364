import { type Kysely, sql } from "kysely";
import { strictTable } from "../kernel/schema.ts";

/** Endpoints, what they are told of, and every attempt to tell them. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await strictTable(db, "webhook_endpoints")
    .addColumn("id", "text", (column) => column.primaryKey())
    .addColumn("organization", "text", (column) => column.notNull().references("organizations.id"))
    .addColumn("test_mode", "integer", (column) => column.notNull())
    .addColumn("url", "text", (column) => column.notNull())
    .addColumn("description", "text")
    .addColumn("events", "text", (column) => column.notNull())
    .addColumn("enabled", "integer", (column) => column.notNull())
    .addColumn("secret", "text", (column) => column.notNull().check(sql`length(secret) > 0`))
    .addColumn("previous_secret", "text")
    .addColumn("previous_expires_at", "text")
    .addColumn("rotated_at", "text")
    .addColumn("last_success_at", "text")
    .addColumn("last_failure_at", "text")
    .addColumn("last_status_code", "integer")
    .addColumn("failing_since", "text")
    .addColumn("alarmed_at", "text")
    .addColumn("created_at", "text", (column) => column.notNull())
    .addColumn("updated_at", "text", (column) => column.notNull())
    .execute();
  await db.schema
    .createIndex("webhook_endpoints_by_mode")
    .on("webhook_endpoints")
    .columns(["organization", "test_mode"])
    .execute();

  await strictTable(db, "webhook_events")
    .addColumn("id", "text", (column) => column.primaryKey())
    .addColumn("organization", "text", (column) => column.notNull().references("organizations.id"))
    .addColumn("test_mode", "integer", (column) => column.notNull())
    .addColumn("type", "text", (column) => column.notNull())
    .addColumn("envelope", "text")
    .addColumn("body", "text", (column) => column.notNull())
    .addColumn("created_at", "text", (column) => column.notNull())
    .execute();
  await db.schema
    .createIndex("webhook_events_by_time")
    .on("webhook_events")
    .columns(["organization", "test_mode", "created_at", "id"])
    .execute();
  await db.schema.createIndex("webhook_events_by_envelope").on("webhook_events").column("envelope").execute();

  await strictTable(db, "webhook_deliveries")
    .addColumn("id", "text", (column) => column.primaryKey())
    .addColumn("endpoint", "text", (column) => column.notNull())
    .addColumn("event", "text", (column) => column.notNull())
    .addColumn("event_type", "text", (column) => column.notNull())
    .addColumn("attempt", "integer", (column) => column.notNull())
    .addColumn("trigger", "text", (column) => column.notNull())
    .addColumn("status", "text", (column) => column.notNull())
    .addColumn("status_code", "integer")
    .addColumn("error_code", "text")
    .addColumn("error_message", "text")
    .addColumn("duration_ms", "integer")
    .addColumn("url", "text", (column) => column.notNull())
    .addColumn("response_body", "text")
    .addColumn("created_at", "text", (column) => column.notNull())
    .addColumn("sent_at", "text")
    .addColumn("next_attempt_at", "text")
    .addColumn("final", "integer", (column) => column.notNull())
    .addColumn("until", "text", (column) => column.notNull())
    .execute();
  await db.schema
    .createIndex("webhook_deliveries_by_endpoint")
    .on("webhook_deliveries")
    .columns(["endpoint", "created_at", "id"])
    .execute();
  await db.schema
    .createIndex("webhook_deliveries_sent")
    .on("webhook_deliveries")
    .columns(["endpoint", "sent_at", "status"])
    .where("sent_at", "is not", null)
    .execute();
  await db.schema
    .createIndex("webhook_deliveries_pending")
    .on("webhook_deliveries")
    .columns(["status", "endpoint", "id"])
    .where(sql.ref("status"), "=", sql.lit("pending"))
    .execute();
  await db.schema.createIndex("webhook_deliveries_by_event").on("webhook_deliveries").column("event").execute();
}
