/** An answer that is not 2xx, or none at all (`status` 0). The message is the gateway's sentence for a person. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  readonly body: Readonly<Record<string, unknown>>;

  constructor(status: number, body: Readonly<Record<string, unknown>>) {
    super(typeof body.error === 'string' ? body.error : `HTTP ${status}`);
    this.status = status;
    this.code = typeof body.code === 'string' ? body.code : '';
    this.body = body;
  }
}
