// Publishes and consumes through the broker whose port RABBITMQ_NODE_PORT names.
using System;
using System.Collections;
using System.Text;
using System.Threading;
using RabbitMQ.Client;
using RabbitMQ.Client.Events;

class Queue
{
    const int Messages = 500;

    static void Main()
    {
        var factory = new ConnectionFactory();
        factory.HostName = "127.0.0.1";
        factory.Port = int.Parse(Environment.GetEnvironmentVariable("RABBITMQ_NODE_PORT"));
        using (IConnection connection = factory.CreateConnection())
        using (IModel channel = connection.CreateModel())
        {
            Console.WriteLine("open: {0}, {1}", connection.IsOpen, connection.Protocol);
            channel.ExchangeDeclare("logs", "topic");
            string queue = channel.QueueDeclare();
            channel.QueueBind(queue, "logs", "a.*", false, null);
            for (int i = 0; i < Messages; i++)
            {
                IBasicProperties properties = channel.CreateBasicProperties();
                properties.ContentType = "text/plain";
                properties.MessageId = i.ToString();
                properties.Headers = new Hashtable();
                properties.Headers["number"] = i;
                channel.BasicPublish("logs", i % 2 == 0 ? "a.even" : "b.odd", properties, Encoding.UTF8.GetBytes("message " + i));
            }
            var consumer = new QueueingBasicConsumer(channel);
            channel.BasicConsume(queue, null, consumer);
            int sum = 0;
            for (int i = 0; i < Messages / 2; i++)
            {
                object item;
                if (!consumer.Queue.Dequeue(20000, out item))
                {
                    Console.WriteLine("nothing came after {0}", i);
                    break;
                }
                var delivery = (BasicDeliverEventArgs)item;
                sum += (int)delivery.BasicProperties.Headers["number"];
                if (i < 3)
                    Console.WriteLine("{0} {1} {2}", delivery.RoutingKey, delivery.BasicProperties.MessageId, Encoding.UTF8.GetString(delivery.Body));
                channel.BasicAck(delivery.DeliveryTag, false);
            }
            Console.WriteLine("sum {0}", sum);
            try { channel.QueueDeclare("no such queue", true, false, false, false, false, null); }
            catch (Exception e) { Console.WriteLine(e.GetType().Name); }
        }
    }
}
