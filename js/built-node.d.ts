export declare function glue(options: object): Promise<any>;
export declare function bootstrap(...args: any[]): Promise<any>;
