/** The REST client of the console: that of the product, of the box that the page came from. */
import { Api } from '../../client/api.js';

export { ApiError, type Credential, type ListPage, type RequestOptions } from '../../client/api.js';

const REQUEST_MS_MAX = 10_000;

const api = new Api({ base: '', withinMs: REQUEST_MS_MAX });

export const useCredential = api.useCredential.bind(api);
export const get: typeof api.get = api.get.bind(api);
export const getList: typeof api.getList = api.getList.bind(api);
export const getAll: typeof api.getAll = api.getAll.bind(api);
export const post: typeof api.post = api.post.bind(api);
export const put: typeof api.put = api.put.bind(api);
export const remove: typeof api.remove = api.remove.bind(api);
